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
    /** Set once a handshake is admitted: takes over the socket. */
    upgrade: NonNullable<Answer['upgrade']> | null;
  }
}

/** The only supported version (RFC 6455, 4.4). */
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
/** Maximum size of a client's message; a larger one closes the connection with 1009. */
const SOCKET_MESSAGE_MAX_BYTES = 64 * 1024;

interface SocketParts {
  /** Route options that all routes share. */
  readonly options: (route: Route) => RouteOptions;
  readonly parts: CallParts & { readonly log: Logger; readonly streams: Pick<StreamHub, 'close'> | null };
}

/**
 * Serves the routes whose response is a WebSocket. Handshakes pass the same hooks as requests: a refusal is an HTTP
 * response, and only handshakes that `handle` admits are upgraded.
 */
export function serveSockets(
  app: FastifyInstance,
  routes: readonly Route[],
  { options, parts }: SocketParts,
): void {
  app.decorateRequest('upgrade', null);
  const handshakes = handshakesOf(app, new Set(routes.map(({ path }) => path)));
  // In its own scope, because the plugin's hooks would otherwise run for every request of every route.
  app.register((scope, _options, done) => {
    scope.register(websocket, {
      options: {
        server: handshakes,
        maxPayload: SOCKET_MESSAGE_MAX_BYTES,
        perMessageDeflate: false,
        // One message a turn: one read may contain hundreds of thousands.
        allowSynchronousEvents: false,
      },
      // `ws` is already closing it with the right code; destroying it now would hide that code from the client.
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
  // Node gives up a connection that asks for an upgrade, so a refused one would stay open.
  scope.addHook('onResponse', (request, _reply, done) => {
    if ('upgrade' in request.headers && request.upgrade === null) request.raw.socket.end();
    done();
  });
  const replies = new WeakMap<object, FastifyReply>();
  const carriedBy = (request: object) =>
    Object.entries(replies.get(request)?.getHeaders() ?? {}).filter(([name]) => CARRIED.has(name));
  // `ws` answers an admitted handshake itself, without our response headers.
  scope.websocketServer.on('headers', (headers, request) => {
    for (const [name, value] of carriedBy(request)) headers.push(`${name}: ${value}`);
  });
  // `ws` also has no JSON errors; with this listener it leaves a faulty handshake to us.
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
        const acceptUpgrade = ({ upgrade }: Answer) => {
          request.upgrade = upgrade ?? null;
          next(
            upgrade === undefined
              ? new TypeError('the answer of a WebSocket route must have `upgrade`')
              : undefined,
          );
        };
        try {
          // Synchronous if possible: no other handshake runs between counting connections and adding one.
          const answer = route.handle(new Call(request, reply, parts));
          if (answer instanceof Promise) answer.then(acceptUpgrade, next);
          else acceptUpgrade(answer);
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
