import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { Clock, Timer } from '../runtime/clock.ts';

/** Time that open responses get to finish when the service stops; after it they are cut. */
export const CLOSE_GRACE_MS = 5_000;

/**
 * Makes `close` end soon. Node closes idle connections itself, but waits a minute for a connection without a request,
 * and forever for a client that does not read.
 */
export function closeInTime(app: FastifyInstance, clock: Clock): void {
  const silent = new Set<Socket>();
  let grace: Timer | null = null;
  // Requests refer to the encrypted socket; unfinished handshakes have a time limit of their own.
  app.server.on(app.server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    silent.add(socket);
    socket.once('close', () => silent.delete(socket));
  });
  app.server.on('request', (request) => silent.delete(request.socket));
  app.server.on('upgrade', (request) => silent.delete(request.socket));
  app.addHook('preClose', (done) => {
    for (const socket of silent) socket.destroy();
    grace = clock.after(CLOSE_GRACE_MS, () => app.server.closeAllConnections());
    done();
  });
  app.addHook('onClose', (_app, done) => {
    grace?.cancel();
    done();
  });
}
