import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SignedIn } from '../accounts/keys/accessControl.ts';
import type { Identity } from '../accounts/keys/authenticate.ts';
import { type HistoryState, historyPercent } from '../ops/historyProgress.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Span } from '../runtime/tracing/tracer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity | null;
    session: SignedIn | null;
    startedAtMs: number;
    /** Bytes sent on the connection before this request. */
    bytesBefore: number;
    /** Null unless traces are asked for. */
    span: Span | null;
    /** The store failed after the body had begun, and the connection was cut. */
    bodyFailed: boolean;
  }
}

/** Where the served data comes from; anything but `live` is said in a header of every answer. */
export type DataSource = 'live' | 'simulated' | 'replay';

/** The delay of the store behind the recorder, kept in memory. */
export interface StoreLag {
  /** Age of the oldest received row that is not stored yet, in milliseconds; 0 when all are. */
  storeLagMs(): number;
  /** How far history is that is still being recorded; left out, there is none. */
  readonly history?: HistoryState;
}

export interface ObservationParts {
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly dataSource: DataSource;
  readonly live: StoreLag;
}

/** Seconds; from a look-up in memory to a whole day of books. */
const DURATION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60];
/** Accepted `X-Request-Id` of a client, so that its logs and ours can be matched. */
const CLIENT_REQUEST_ID = /^[\w.:-]{1,64}$/;
/** nginx's status for "the client closed the request"; only logged, never sent. */
const CLIENT_CLOSED = 499;
/** Logged when a stream ends, with its duration. */
const SWITCHED = 101;
/** Logged for a response that could not be completed; its head had already sent 200. */
const BODY_CUT = 502;

const SERVER_ERROR = 500;

/** Data under these paths comes from the store. */
const STORED_DATA = /^\/(?:v1|app)\//;
/** Usual delay between receiving a row and storing it; a longer delay is reported as lag. */
const STORE_LAG_SHOWN_MS = 2_000;
export const STORE_LAG_HEADER = 'x-store-lag';
export const HISTORY_HEADER = 'x-history-recorded';

/** Assigns an id to a request. */
export type RequestIds = (request: { headers: Record<string, unknown> }) => string;

/** Ids are unique among processes by their random part, and ordered within one process by a counter. */
export function requestIds(): RequestIds {
  const process = randomBytes(6).toString('hex');
  let count = 0;
  return ({ headers }) => {
    const given = headers['x-request-id'];
    if (typeof given === 'string' && CLIENT_REQUEST_ID.test(given)) return given;
    return `${process}-${(++count).toString(36)}`;
  };
}

/**
 * Adds `X-Request-Id` to every response. Adds `X-Data-Source` unless the data is live, `X-Store-Lag` while the store
 * lags, and `X-History-Recorded` while history is still being recorded. Logs and times every request once, when its
 * response has been sent or its client has disconnected. Query strings are not logged, because a browser's may contain
 * a key.
 */
export function observeRequests(
  app: FastifyInstance,
  { clock, log, metrics, dataSource, live }: ObservationParts,
): void {
  const duration = metrics.histogram(
    'underround_http_request_seconds',
    'Time from request head to end of answer',
    {
      labelNames: ['method', 'route', 'status'],
      buckets: DURATION_BUCKETS,
    },
  );
  app.decorateRequest('identity', null);
  app.decorateRequest('session', null);
  app.decorateRequest('startedAtMs', 0);
  app.decorateRequest('span', null);
  app.decorateRequest('bytesBefore', 0);
  app.decorateRequest('bodyFailed', false);
  const report = (request: FastifyRequest, status: number) => {
    const durationMs = clock.monotonic() - request.startedAtMs;
    const { method } = request;
    const route = routeName(request);
    duration.observe({ method, route, status }, durationMs / 1000);
    const attributes = {
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': status,
    };
    request.span?.end({ attributes, isError: status >= SERVER_ERROR });
    log.info(
      {
        request_id: request.id,
        method,
        route,
        status,
        duration_ms: Math.round(durationMs * 1000) / 1000,
        bytes: sentBytes(request),
        key_id: request.identity?.keyId ?? null,
      },
      'http.request',
    );
  };
  app.addHook('onRequest', (request, reply, done) => {
    request.startedAtMs = clock.monotonic();
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff');
    if (dataSource !== 'live') reply.header('x-data-source', dataSource);
    if (STORED_DATA.test(request.url)) {
      const lagMs = live.storeLagMs();
      if (lagMs >= STORE_LAG_SHOWN_MS) reply.header(STORE_LAG_HEADER, Math.floor(lagMs / 1000));
      const history = live.history?.() ?? null;
      if (history !== null) reply.header(HISTORY_HEADER, `${historyPercent(history)}%`);
    }
    request.bytesBefore = request.raw.socket?.bytesWritten ?? 0;
    const { raw } = reply;
    raw.on('close', () => report(request, raw.writableFinished ? raw.statusCode : unfinishedStatus(request)));
    if (metrics.tracer === null) return done();
    const { traceparent } = request.headers;
    const facts = { kind: 'server', traceparent: traceparent?.toString() } as const;
    request.span = metrics.tracer.start('http.request', facts);
    request.span.run(done);
  });
}

/** The logged status of a response that was not sent completely. */
function unfinishedStatus({ upgrade, bodyFailed }: FastifyRequest): number {
  if (upgrade) return SWITCHED;
  return bodyFailed ? BODY_CUT : CLIENT_CLOSED;
}

const UNKNOWN = 'unknown';
/** Route names by the router's path, so each is computed once. The map has one entry per route. */
const routeNames = new Map<string, string>();

/** The declared path, never the requested one: unknown paths must not add metric series. */
function routeName(request: FastifyRequest): string {
  const url = request.is404 ? undefined : request.routeOptions.url;
  if (url === undefined) return UNKNOWN;
  const known = routeNames.get(url);
  if (known !== undefined) return known;
  const name = url.replace(/:(\w+)/g, '{$1}');
  routeNames.set(url, name);
  return name;
}

/** Bytes sent, including the head; 0 for an in-process request. */
function sentBytes({ raw, bytesBefore }: FastifyRequest): number {
  return Math.max(0, (raw.socket?.bytesWritten ?? bytesBefore) - bytesBefore);
}
