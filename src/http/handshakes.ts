import { type IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';

/** Headers that offer another protocol, and headers that belong to the offer. */
const OFFERS = new Set(['upgrade', 'http2-settings']);

/**
 * Emits WebSocket handshakes, and only those to the given paths.
 *
 * Node hands the raw connection over whenever a request names another protocol, for any protocol and path. Java's
 * client and `curl --http2` do so with every request (`Upgrade: h2c`): the request would lose its body, and a long
 * response its flow control. A server may ignore such an offer (RFC 9110, 7.8), so these requests are served as if they
 * had none. Node asks for each request since 24.9; before that, the request is parsed again without the offer.
 * @returns The emitter of `upgrade` events for the handshakes; it never listens itself.
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
  // The encoding that Node's parser used.
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
