import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { Clock, Timer } from '../runtime/clock.ts';

/** How long answers under way may take once the service stops; what is left is cut. */
export const CLOSE_GRACE_MS = 5_000;

/**
 * Lets `close` end soon. Node closes idle connections itself, but waits a minute for one that has not asked
 * anything yet, and for ever for a client that does not read.
 */
export function closeInTime(app: FastifyInstance, clock: Clock): void {
  const silent = new Set<Socket>();
  let grace: Timer | null = null;
  // Requests name the encrypted socket; a handshake that never ends has a limit of its own.
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
