import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { isAuthFailure } from '../accounts/authenticate.ts';
import type { Clock } from '../clock.ts';
import { forbidKeeping } from './caching.ts';
import { closeInTime } from './closing.ts';
import { acceptedEncodings, compress, worthCompressing } from './compress.ts';
import { answerError, handleErrors, refuseConnection } from './errors.ts';
import { parseJsonBody } from './jsonBody.ts';
import { observeRequests, requestIds } from './lifecycle.ts';
import type { ApiParts } from './parts.ts';
import { parseQuery, type QueryParameters } from './queryString.ts';
import { methodNotAllowed, notFound, unauthorized } from './refusal.ts';
import type { Answer, RawRequest, Route } from './route.ts';
import { allRoutes } from './routes.ts';

const BODY_MAX_BYTES = 1024 * 1024;
/** A request head that does not come whole within this is refused. */
const REQUEST_TIMEOUT_MS = 30_000;
/** A connection on which nothing moves for this long is closed; a client that stops reading cancels its query. */
const SOCKET_IDLE_MS = 120_000;
/** The head of a request is bounded by Node (16 KiB), so a path parameter is too. */
const PATH_PARAMETER_MAX = 16 * 1024;

/** The HTTP service, not yet listening. Every route comes from one list, `routes.ts`. */
export function createApi(parts: ApiParts): FastifyInstance {
  const { log } = parts;
  const app: FastifyInstance = Fastify({
    logger: false,
    genReqId: requestIds(),
    bodyLimit: BODY_MAX_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionTimeout: SOCKET_IDLE_MS,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: { querystringParser: parseQuery, maxParamLength: PATH_PARAMETER_MAX },
    clientErrorHandler: refuseConnection,
    frameworkErrors: (error, request, reply) => answerError(error, { request, reply, log }),
  });
  readBodiesAsJson(app);
  observeRequests(app, parts);
  forbidKeeping(app);
  handleErrors(app, log);
  closeInTime(app, parts.clock);
  const routes = allRoutes(parts);
  refuseUnknown(app, routes);
  for (const declared of routes) register(app, declared, parts);
  return app;
}

/** Whatever the media type says, a body is JSON: the answer to anything else is where it stops being that. */
function readBodiesAsJson(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'string' }, async (_request: FastifyRequest, body: string) =>
    parseJsonBody(body),
  );
  // A media type that cannot be read would be refused before its body is.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers['content-type'] !== undefined) request.headers['content-type'] = 'application/json';
    done();
  });
}

function register(app: FastifyInstance, declared: Route, { accounts, clock, log }: ApiParts): void {
  app.route({
    method: declared.method === 'GET' ? ['GET', 'HEAD'] : declared.method,
    url: declared.path.replace(/\{(\w+)\}/g, ':$1'),
    ...(declared.auth === 'key'
      ? {
          // Before any body is read: who has no key sends no megabytes.
          onRequest: async (request: FastifyRequest) => {
            const result = await accounts.authenticate(request.headers.authorization);
            if (isAuthFailure(result)) throw unauthorized(result.detail);
            request.identity = result;
          },
        }
      : {}),
    handler: async (request, reply) => {
      const answer = await declared.handle(rawRequest(request, reply, clock));
      if (typeof answer.body !== 'string') {
        answer.body.once('error', (error) => {
          if (reply.raw.destroyed) return;
          request.bodyFailed = true;
          log.error({ err: error, request_id: request.id, route: declared.path }, 'http.body_failed');
        });
      }
      return send(answer, request, reply);
    },
  });
}

function rawRequest(request: FastifyRequest, reply: FastifyReply, clock: Clock): RawRequest {
  let controller: AbortController | null = null;
  return {
    query: request.query as QueryParameters,
    path: request.params as Record<string, string>,
    identity: request.identity,
    headOnly: request.method === 'HEAD',
    conditions: { url: request.url, ifNoneMatch: request.headers['if-none-match'], nowMs: clock.now() },
    // Made only where a handler asks for it: most small answers never do.
    get signal() {
      if (!controller) {
        const made = new AbortController();
        reply.raw.once('close', () => {
          if (!reply.raw.writableFinished) made.abort();
        });
        controller = made;
      }
      return controller.signal;
    },
  };
}

async function send(answer: Answer, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { status = 200, contentType = 'application/json', headers, body } = answer;
  reply.code(status);
  if (headers) reply.headers(headers);
  if (status === 304) return reply.send();
  reply.type(contentType);
  if (!worthCompressing(body)) return reply.send(body);
  if (!reply.hasHeader('vary')) reply.header('vary', 'Accept-Encoding');
  const accepted = acceptedEncodings(request.headers['accept-encoding']);
  if (accepted.length === 0 || request.method === 'HEAD') return reply.send(body);
  const encoded = await compress(body, accepted);
  if (encoded.encoding !== null) reply.header('content-encoding', encoded.encoding);
  return reply.send(encoded.body);
}

/** 404 for unknown paths and 405 for known ones, decided before a key or a body is looked at. */
function refuseUnknown(app: FastifyInstance, routes: readonly Route[]): void {
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
  app.addHook('onRequest', (request, _reply, done) => {
    if (!request.is404) return done();
    const path = request.url.split('?', 1)[0] ?? '';
    const allowed = [...known.values()]
      .filter(({ pattern }) => pattern.test(path))
      .flatMap(({ methods }) => [...methods]);
    done(allowed.length > 0 ? methodNotAllowed([...new Set(allowed)]) : notFound('Not Found'));
  });
}
