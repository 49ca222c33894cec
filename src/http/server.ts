import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { Server as TlsServer } from 'node:tls';
import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type RouteOptions,
} from 'fastify';
import { giveBack } from '../print/slabs.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { StreamHub } from '../stream/streamHub.ts';
import { Admission, type AdmissionParts } from './admission.ts';
import { forbidKeeping } from './caching.ts';
import { Call, type CallParts } from './call.ts';
import { acceptedEncodings, compress, worthCompressing } from './compress.ts';
import { limitConnections } from './connectionLimits.ts';
import { answerError, handleErrors } from './errors.ts';
import { knownHostsOnly } from './hosts.ts';
import { JsonBodyParser } from './jsonBody.ts';
import {
  HISTORY_HEADER,
  type ObservationParts,
  observeRequests,
  requestIds,
  STORE_LAG_HEADER,
} from './lifecycle.ts';
import { serveDocuments } from './pages/documents.ts';
import { redirectStatus, servePages } from './pages/serve.ts';
import { parseQuery } from './queryString.ts';
import { closeQueuedResponses } from './queuedResponses.ts';
import { methodNotAllowed, notFound } from './refusal.ts';
import { checkRequests, type RequestCheck } from './requestChecks.ts';
import type { Answer, Route } from './route.ts';
import { insistOnTls } from './sessionCookie.ts';
import { cutSlowClients } from './slowClients.ts';
import { serveSockets } from './sockets.ts';
import { StreamedAnswers } from './streamedAnswers.ts';
import { PLAIN, type Transport } from './transport.ts';
import { refuseConnection, refuseUnread, requireHost } from './unread.ts';

const BODY_MAX_BYTES = 256 * 1024;
/** For requests that anyone may send, which contain an e-mail address and at most two passwords. */
const CREDENTIALS_MAX_BYTES = 8 * 1024;
const CREDENTIALS = /^\/app\/(?:sign-|password$)/;
/** A request head that is incomplete after this long is refused. */
const REQUEST_TIMEOUT_MS = 30_000;
/** A connection without traffic for this long is closed; if a client stops reading, this cancels its query. */
const SOCKET_IDLE_MS = 120_000;
/** Node limits the request head to 16 KiB, which bounds a path parameter too. Each `%` of it may become `%25`. */
const PATH_PARAMETER_MAX = 3 * 16 * 1024;
/** Time that open responses get to finish when the service stops; after it they are cut. */
export const CLOSE_GRACE_MS = 5_000;
const SLASH = 0x2f;
/** The absolute form that proxies use (RFC 9112, 3.2.2). */
const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i;

/** Needed by every request, whatever its route. */
export interface ServerOptions extends AdmissionParts, ObservationParts {
  /** Closed before the server is; null: no route is a socket. */
  readonly streams: Pick<StreamHub, 'close'> | null;
  /** Plain HTTP from nobody's proxy where it is left out. */
  readonly transport?: Transport;
}

/** The HTTP service of these routes and of the dashboard's pages, not yet listening. */
export function createServer(routes: readonly Route[], options: ServerOptions): FastifyInstance {
  const { log, dataSource, transport = PLAIN } = options;
  const nextId = requestIds();
  const refusing = { nextId, dataSource, log, transport, rateLimits: options.rateLimits };
  const admission = new Admission(options);
  const app: FastifyInstance = Fastify({
    // `requireHost` checks the header, and its refusals have a body.
    ...(transport.tls
      ? { https: { ...transport.tls, requireHostHeader: false } }
      : { http: { requireHostHeader: false } }),
    trustProxy: transport.trustProxy ?? false,
    logger: false,
    genReqId: nextId,
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: SOCKET_IDLE_MS,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { querystringParser: parseQuery, maxParamLength: PATH_PARAMETER_MAX },
    rewriteUrl: ({ url = '/' }) => readableTarget(url),
    clientErrorHandler: refuseConnection(refusing),
    frameworkErrors: (error, request, reply) => answerError(error, { request, reply }, { log, admission }),
  });
  closeQueuedResponses(app);
  readBodiesAsJson(app);
  observeRequests(app, options);
  handleErrors(app, { log, admission });
  refuseUnread(app, refusing);
  limitConnections(app, { ...options, transport });
  closeInTime(app, options.clock);
  cutSlowClients(app, options);
  const pages = [...servePages(app, { dataSource }), ...serveDocuments(app), ...redirectStatus(app, routes)];
  checkRequests(app, [
    ignoreMediaType,
    forbidKeeping,
    insistOnTls,
    requireHost,
    knownHostsOnly(transport.hosts),
    knownRoutesOnly([...routes, ...pages]),
  ]);
  const streamedAnswers = new StreamedAnswers(options.clock);
  const optionsOf = (declared: Route) => routeOptions(declared, { ...options, admission, streamedAnswers });
  for (const declared of routes) if (!declared.socket) app.route(optionsOf(declared));
  const sockets = routes.filter(({ socket }) => socket);
  serveSockets(app, sockets, { options: optionsOf, parts: { ...options, streamedAnswers } });
  return app;
}

/**
 * Converts any request target into a path with query that the router can parse. The router answers an unparsable target
 * without running hooks, so without asking for a key and without our response headers. In a path with a broken escape
 * each `%` is taken literally.
 */
export function readableTarget(target: string): string {
  const rooted = target.charCodeAt(0) === SLASH ? target : withRoot(target.replace(ORIGIN, ''));
  if (!rooted.includes('%')) return rooted;
  const queryAt = rooted.indexOf('?');
  const path = queryAt < 0 ? rooted : rooted.slice(0, queryAt);
  if (isDecodable(path)) return rooted;
  return path.replaceAll('%', '%25') + rooted.slice(path.length);
}

function withRoot(rest: string): string {
  return rest.charCodeAt(0) === SLASH ? rest : `/${rest}`;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Makes `close` end soon. Node closes idle connections itself, but waits a minute for a connection without a request,
 * and forever for a client that does not read.
 */
function closeInTime(app: FastifyInstance, clock: Clock): void {
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

/**
 * Parses every body as JSON, whatever its media type; anything else gets a JSON parse error. Bodies of routes that
 * declare none are parsed too: one that is nested too deeply is 400 everywhere.
 */
function readBodiesAsJson(app: FastifyInstance): void {
  const parser = new JsonBodyParser();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, async (request: FastifyRequest, body: string) =>
    // An empty body counts as no body, as in FastAPI, whatever its media type.
    body === '' ? undefined : await parser.parse(body, request.identity?.userId ?? request.ip),
  );
}

/** Fastify would refuse an unknown media type before reading the body. */
const ignoreMediaType: RequestCheck = ({ headers }) => {
  if (headers['content-type'] !== undefined) headers['content-type'] = 'application/json';
};

function routeOptions(
  declared: Route,
  parts: CallParts & { readonly log: Logger } & { admission: Admission },
): RouteOptions {
  const { log, admission } = parts;
  return {
    method: declared.method === 'GET' ? ['GET', 'HEAD'] : declared.method,
    bodyLimit: CREDENTIALS.test(declared.path) ? CREDENTIALS_MAX_BYTES : BODY_MAX_BYTES,
    url: declared.path.replace(/\{(\w+)\}/g, ':$1'),
    // A callback, so that a request with a cached key waits for no promise.
    onRequest: (request, reply, done) => admission.admit({ route: declared, request, reply }, done),
    // Also without a promise: an immediate response is sent at once.
    handler: (request, reply) => {
      const answer = declared.handle(new Call(request, reply, parts));
      if (!(answer instanceof Promise)) return void send(answer, { request, reply, log });
      answer.then(
        (late) => send(late, { request, reply, log }),
        (error: unknown) => reply.send(error),
      );
    },
  };
}

function send(
  { status = 200, contentType = 'application/json', headers, body }: Answer,
  context: { request: FastifyRequest; reply: FastifyReply; log: Logger },
): void {
  const { request, reply, log } = context;
  if (typeof body !== 'string') {
    body.once('error', (error) => {
      if (reply.raw.destroyed) return;
      request.bodyFailed = true;
      const route = request.routeOptions.url;
      log.error({ err: error, request_id: request.id, route }, 'http.body_failed');
    });
  }
  reply.code(status);
  if (headers) reply.headers(headers);
  // A cached copy would show the lag or the partial history long after it is gone.
  if (reply.hasHeader(STORE_LAG_HEADER) || reply.hasHeader(HISTORY_HEADER))
    reply.header('cache-control', 'no-store');
  if (status === 304 || status === 204) return void reply.send();
  reply.type(contentType);
  if (!worthCompressing(body)) return void reply.send(body);
  if (!reply.hasHeader('vary')) reply.header('vary', 'Accept-Encoding');
  const accepted = acceptedEncodings(request.headers['accept-encoding']);
  if (request.method === 'HEAD') return void reply.send(body);
  if (accepted.length === 0)
    return void (typeof body === 'string' ? reply.send(body) : sendStream(reply, body));
  compress(body, accepted).then(
    (encoded) => {
      if (encoded.encoding !== null) reply.header('content-encoding', encoded.encoding);
      reply.send(encoded.body);
    },
    (error: unknown) => reply.send(error),
  );
}

/**
 * Sends a body no faster than its client reads it; a disconnect destroys the body. An error before the first byte
 * becomes an error response; a later one cuts the connection. Unlike a pipe, this learns when a piece has been sent,
 * and releases its memory.
 */
function sendStream(reply: FastifyReply, body: Readable): void {
  const { raw } = reply;
  if (raw.destroyed) return void body.destroy();
  let hasBegun = false;
  const begin = () => {
    if (hasBegun) return;
    hasBegun = true;
    reply.hijack();
    raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>);
  };
  body.on('data', (bytes: Buffer) => {
    begin();
    const isTaken = raw.write(bytes, (error) => {
      if (!error) giveBack(bytes);
    });
    if (!isTaken) body.pause();
  });
  raw.on('drain', () => body.resume());
  raw.once('close', () => body.destroy());
  body.once('end', () => {
    begin();
    raw.end();
  });
  body.once('error', (error) => {
    if (hasBegun) raw.destroy();
    else reply.send(error);
  });
}

/** 404 for unknown paths and 405 for unknown methods, decided before keys and bodies are read. */
function knownRoutesOnly(routes: readonly Pick<Route, 'path' | 'method'>[]): RequestCheck {
  const known = new Map<string, { pattern: RegExp; methods: Set<string> }>();
  for (const { path, method } of routes) {
    const entry = known.get(path) ?? {
      pattern: new RegExp(`^${path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
      methods: new Set<string>(),
    };
    entry.methods.add(method);
    if (method === 'GET') entry.methods.add('HEAD');
    known.set(path, entry);
  }
  return (request) => {
    if (!request.is404) return;
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = [...known.values()]
      .filter(({ pattern }) => pattern.test(path))
      .flatMap(({ methods }) => [...methods]);
    throw allowed.length > 0 ? methodNotAllowed([...new Set(allowed)]) : notFound('Not Found');
  };
}
