import { type IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';

/** Headers that ask for another protocol, or belong to the asking. */
const OFFERS = new Set(['upgrade', 'http2-settings']);

/**
 * Hears of WebSocket handshakes to the given paths, and of them alone.
 *
 * Node hands the bare connection over whenever a request names another protocol, whatever protocol and path it is:
 * what Java's client and `curl --http2` send with every request (`Upgrade: h2c`) would lose its body, and a long answer
 * its flow control. Such an offer may be ignored (RFC 9110, 7.8), so those requests are served as if they had none. Node
 * asks about each since 24.9; before, they are read once more without the offer.
 * @returns What emits `upgrade` for the handshakes; it never listens itself.
 */
export function handshakesOf(app: FastifyInstance, paths: ReadonlySet<string>): Server {
  const handshakes = new Server();
  const server = app.server as { shouldUpgradeCallback?: (request: IncomingMessage) => boolean };
  server.shouldUpgradeCallback = (request) => isHandshake(request, paths);
  const arrival = app.server instanceof TlsServer ? 'secureConnection' : 'connection';
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, rest: Buffer) => {
    if (isHandshake(request, paths)) return void handshakes.emit('upgrade', request, socket, rest);
    socket.unshift(Buffer.concat([headWithoutOffer(request), rest]));
    app.server.emit(arrival, socket);
  });
  return handshakes;
}

function isHandshake({ method, url, headers }: IncomingMessage, paths: ReadonlySet<string>): boolean {
  const path = url?.split('?', 1)[0] ?? '';
  return method === 'GET' && paths.has(path) && tokens(headers.upgrade ?? '').includes('websocket');
}

function headWithoutOffer({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    const value = rawHeaders[at + 1] ?? '';
    const lower = name.toLowerCase();
    if (OFFERS.has(lower)) continue;
    lines.push(`${name}: ${lower === 'connection' ? withoutOffers(value) : value}`);
  }
  // As Node read it.
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

function withoutOffers(connection: string): string {
  return tokens(connection)
    .filter((token) => !OFFERS.has(token))
    .join(', ');
}

function tokens(list: string): string[] {
  return list.split(',').map((token) => token.trim().toLowerCase());
}
