import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { SignedIn } from '../accounts/keys/accessControl.ts';
import type { Identity } from '../accounts/keys/authenticate.ts';
import { type HistoryState, percentOf } from '../ops/historyProgress.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';

declare module 'fastify' {
  interface FastifyRequest {
    identity: Identity | null;
    session: SignedIn | null;
    startedAtMs: number;
    /** What its connection had sent before. */
    bytesBefore: number;
    /** It was logged and timed. */
    isTold: boolean;
    /** The store failed after the body had begun, and the connection was cut. */
    bodyFailed: boolean;
  }
}

/** Where the served data comes from; anything but `live` is said in a header of every answer. */
export type DataSource = 'live' | 'simulated' | 'replay';

/** How far the store is behind what was recorded; reading it never waits. */
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
/** What a client may name a request itself, so that its logs and ours meet. */
const CLIENT_REQUEST_ID = /^[\w.:-]{1,64}$/;
/** nginx's status for "the client closed the request": only logged, never sent. */
const CLIENT_CLOSED = 499;
/** Logged when a stream ends, with how long it lasted. */
const SWITCHED = 101;
/** Logged for an answer that could not be finished; its head had already said 200. */
const BODY_CUT = 502;

/** Data under these paths comes from the store. */
const STORED_DATA = /^\/(?:v1|app)\//;
/** Usual delay between the receipt of a row and its storage; a larger one is a lag. */
const STORE_LAG_SHOWN_MS = 2_000;
export const STORE_LAG_HEADER = 'x-store-lag';
export const HISTORY_HEADER = 'x-history-recorded';

/** Names a request. */
export type RequestIds = (request: { headers: Record<string, unknown> }) => string;

/** Unique among processes by its random part, ordered within one by its count. */
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
 * Every answer carries `X-Request-Id` (and `X-Data-Source` unless live, and `X-Store-Lag` while what it was read from
 * is behind, and `X-History-Recorded` while history is still being recorded); every request is logged and timed once, when its answer has left or its client has. Query strings are not logged: a browser's may hold a key.
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
  app.decorateRequest('bytesBefore', 0);
  app.decorateRequest('isTold', false);
  app.decorateRequest('bodyFailed', false);
  const tell = (request: FastifyRequest, status: number) => {
    if (request.isTold) return;
    request.isTold = true;
    const durationMs = clock.monotonic() - request.startedAtMs;
    const { method } = request;
    const route = routeName(request);
    duration.observe({ method, route, status }, durationMs / 1000);
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
      if (history !== null) reply.header(HISTORY_HEADER, `${percentOf(history)}%`);
    }
    request.bytesBefore = request.raw.socket?.bytesWritten ?? 0;
    const { raw } = reply;
    raw.on('finish', () => tell(request, raw.statusCode));
    raw.on('close', () => {
      if (request.upgrade) tell(request, SWITCHED);
      else tell(request, request.bodyFailed ? BODY_CUT : CLIENT_CLOSED);
    });
    done();
  });
}

const UNKNOWN = 'unknown';
/** By the router's spelling, so that no request spells it anew. There are as many as routes. */
const routeNames = new Map<string, string>();

/** The declared path, never the one asked for: unknown paths must not grow the metrics. */
function routeName(request: FastifyRequest): string {
  const url = request.is404 ? undefined : request.routeOptions.url;
  if (url === undefined) return UNKNOWN;
  const known = routeNames.get(url);
  if (known !== undefined) return known;
  const name = url.replace(/:(\w+)/g, '{$1}');
  routeNames.set(url, name);
  return name;
}

/** Bytes on the wire, head included; an in-process request has no wire. */
function sentBytes({ raw, bytesBefore }: FastifyRequest): number {
  return Math.max(0, (raw.socket?.bytesWritten ?? bytesBefore) - bytesBefore);
}
