import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

/**
 * Closes the responses that wait behind an earlier one when their connection closes. A client may send further requests
 * before it reads the first answer. Node 22 closes only the response that is being sent: the query of a later one would
 * run on, and keep its user's place, although nobody can read it.
 */
export function closeQueuedResponses({ server }: Pick<FastifyInstance, 'server'>): void {
  const queued = new WeakMap<Socket, Set<ServerResponse>>();
  server.on('request', (request, response: ServerResponse) => {
    // A response that can be sent at once has its socket already.
    if (response.socket !== null) return;
    const { socket } = request;
    const behind = queued.get(socket) ?? closedWith(socket);
    queued.set(socket, behind);
    behind.add(response);
    response.once('close', () => behind.delete(response));
  });
}

/** A set whose responses are closed when the connection is. */
function closedWith(socket: Socket): Set<ServerResponse> {
  const responses = new Set<ServerResponse>();
  socket.once('close', () => {
    for (const response of responses) response.destroy();
    // Newer versions of Node have closed them by then, which empties the set.
    setImmediate(() => {
      for (const response of responses) response.emit('close');
    });
  });
  return responses;
}
