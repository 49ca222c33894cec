import websocket from '@fastify/websocket';
import type { FastifyInstance, FastifyReply, RouteOptions } from 'fastify';
import type { WebSocket } from 'ws';
import type { Logger } from '../runtime/log.ts';
import type { StreamHub } from '../stream/streamHub.ts';
import { Call, type CallParts } from './call.ts';
import { handshakesOf } from './handshakes.ts';
import type { Answer, Route } from './route.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set once a handshake was admitted: what becomes of its socket. */
    upgrade: NonNullable<Answer['upgrade']> | null;
  }
}

/** The one version spoken (RFC 6455, 4.4). */
const WEBSOCKET_VERSION = '13';
const CARRIED = new Set([
  'x-content-type-options',
  'x-request-id',
  'x-data-source',
  'x-store-lag',
  'x-history-recorded',
  'ratelimit',
  'ratelimit-policy',
]);
/** A message of a client; a larger one closes the connection with 1009. */
export const SOCKET_MESSAGE_MAX_BYTES = 64 * 1024;

interface SocketParts {
  /** What every route has. */
  readonly options: (route: Route) => RouteOptions;
  readonly parts: CallParts & { readonly log: Logger; readonly streams: Pick<StreamHub, 'close'> | null };
}

/**
 * Serves the routes whose answer is a socket. Handshakes pass the same hooks as requests: whatever refuses one is an
 * HTTP answer, and only what `handle` lets through is upgraded.
 */
export function serveSockets(
  app: FastifyInstance,
  routes: readonly Route[],
  { options, parts }: SocketParts,
): void {
  app.decorateRequest('upgrade', null);
  const handshakes = handshakesOf(app, new Set(routes.map(({ path }) => path)));
  // In a scope of its own: what the plugin hooks into would else run for every request of every route.
  app.register((scope, _options, done) => {
    scope.register(websocket, {
      options: { server: handshakes, maxPayload: SOCKET_MESSAGE_MAX_BYTES, perMessageDeflate: false },
      // `ws` has begun to close it with the fitting code; cutting it now would keep that from its client.
      errorHandler: (error: NodeJS.ErrnoException, socket: WebSocket, request) => {
        parts.log.info(
          { request_id: request.id, code: error.code, reason: error.message },
          'stream.socket_error',
        );
        if (socket.readyState === socket.OPEN) socket.terminate();
      },
      preClose: (done: () => void) => {
        Promise.resolve(parts.streams?.close()).then(done, done);
      },
    });
    scope.register((scope, _options, done) => {
      declareSockets(scope, routes, { options, parts });
      done();
    });
    done();
  });
}

function declareSockets(
  scope: FastifyInstance,
  routes: readonly Route[],
  { options, parts }: SocketParts,
): void {
  // Node hands a connection over for good when it asks for an upgrade; one that was refused would stay.
  scope.addHook('onResponse', (request, _reply, done) => {
    if ('upgrade' in request.headers && request.upgrade === null) request.raw.socket.end();
    done();
  });
  const replies = new WeakMap<object, FastifyReply>();
  const carriedBy = (request: object) =>
    Object.entries(replies.get(request)?.getHeaders() ?? {}).filter(([name]) => CARRIED.has(name));
  // An admitted handshake is answered by `ws`, which knows nothing of what every answer carries.
  scope.websocketServer.on('headers', (headers, request) => {
    for (const [name, value] of carriedBy(request)) headers.push(`${name}: ${value}`);
  });
  // Nor how a refusal looks; with a listener it leaves a faulty handshake to it.
  scope.websocketServer.on('wsClientError', ({ message }, _socket, request) => {
    const reply = replies.get(request);
    if (!reply) return;
    reply.request.upgrade = null;
    const headers = {
      ...Object.fromEntries(carriedBy(request)),
      ...{ 'content-type': 'application/json', 'cache-control': 'no-store' },
      ...{ 'sec-websocket-version': WEBSOCKET_VERSION, connection: 'close' },
    };
    reply.raw.writeHead(400, headers).end(JSON.stringify({ detail: message }));
  });
  for (const route of routes) {
    scope.route({
      ...options(route),
      preHandler: (request, reply, next) => {
        if (!request.ws) return next();
        replies.set(request.raw, reply);
        const take = ({ upgrade }: Answer) => {
          request.upgrade = upgrade ?? null;
          next(upgrade === undefined ? new TypeError('a route for sockets must take one') : undefined);
        };
        try {
          // At once where it can be: no other handshake comes between counting connections and adding one.
          const answer = route.handle(new Call(request, reply, parts));
          if (answer instanceof Promise) answer.then(take, next);
          else take(answer);
        } catch (error) {
          next(error as Error);
        }
      },
      wsHandler: (socket, request) => {
        request.upgrade?.({ socket, transport: request.raw.socket });
      },
    });
  }
}
