import { Agent, type Dispatcher, type ProxyAgent, request } from 'undici';
import { type BackoffLimits, backoffDelayMs } from '../runtime/backoff.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { TransportError, VenueMessageError, VenueRefusedError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { VenueFeed } from '../runtime/venueFeedRegistry.ts';
import type { MessageKinds } from './drift/knownKeys.ts';
import { MessageWatch } from './drift/messageWatch.ts';
import { isProxied, proxyDispatcher } from './outboundProxy.ts';
import { VERIFIED } from './verified.ts';

/** Polymarket's edge answers 403 (Cloudflare 1010) to requests that do not look like a browser's (seen 2026-08). */
const USER_AGENT =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
const BODY_BYTES_MAX = 16 * 1024 * 1024;
const EXCERPT_LENGTH = 200;
const KEEP_ALIVE_MS = 30_000;
const RETRY: BackoffLimits = { firstMs: 300, maxMs: 10_000 };
/** Longest `Retry-After` to wait for; a longer one is left to the caller's next round. */
const RETRY_AFTER_HONOURED_MS = 30_000;

/** A server error with its status and text. It may be repeated, as after any failure of the transport. */
export class VenueHttpError extends TransportError {
  readonly status: number;
  /** The start of the answer's body. */
  readonly excerpt: string;

  constructor(message: string, facts: { status: number; excerpt: string }) {
    super(message);
    this.status = facts.status;
    this.excerpt = facts.excerpt;
  }
}

/** A refusal with the venue's text, for callers that handle kinds of refusal differently. */
export class HttpRefusedError extends VenueRefusedError {
  readonly status: number;
  /** The start of the answer's body. */
  readonly excerpt: string;

  constructor(message: string, facts: { status: number; excerpt: string; retryAfterMs: number | null }) {
    super(message, { retryAfterMs: facts.retryAfterMs });
    this.status = facts.status;
    this.excerpt = facts.excerpt;
  }
}

interface HttpClientOptions {
  /** Name in logs and metrics, e.g. `polymarket.gamma`. */
  readonly feed: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Sockets kept open to one host. */
  readonly connections?: number;
  readonly timeoutMs?: number;
  /** See `isProxied`; null: none. */
  readonly proxyUrl?: string | null;
  /** How many times a request is repeated after a transport failure or a short `Retry-After`. */
  readonly retries?: number;
}

export interface JsonAnswer {
  /** Null means 404: the venue does not know the object. */
  readonly body: unknown;
  readonly receivedTimeMs: number;
  readonly roundTripMs: number;
  /** How long a cache has kept the answer (header `Age`). */
  readonly ageMs: number;
  /** How long a cache may keep it (`Cache-Control: max-age`), counted from when the venue made it; 0: not at all. */
  readonly maxAgeMs: number;
}

/** Requests JSON from one venue over keep-alive connections; each kind of failure is one typed error. */
export class HttpClient {
  readonly #options: HttpClientOptions;
  readonly #timeoutMs: number;
  readonly #agent: Agent;
  readonly #proxy: ProxyAgent | null;
  readonly #closing = new AbortController();
  readonly #requests;
  readonly #state: VenueFeed;

  constructor(options: HttpClientOptions) {
    this.#options = options;
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    const { proxyUrl = null } = options;
    const limits = {
      connections: options.connections ?? 4,
      // With HTTP/2 allowed, requests wait for the first connection's handshake, which chooses the protocol for all.
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // Our clock ends a slow request, not the library's.
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    this.#agent = new Agent({ ...limits, connect: VERIFIED });
    this.#proxy = proxyUrl === null ? null : proxyDispatcher(proxyUrl, limits);
    this.#state = options.metrics.venueFeeds.join({
      feed: options.feed,
      kind: 'requests',
      sinceMs: options.clock.now(),
    });
    this.#requests = options.metrics.counter(
      'underround_venue_requests_total',
      'HTTP requests to venues by outcome',
      ['feed', 'outcome'],
    );
  }

  /**
   * @throws {VenueRefusedError} 4xx except 404: blocked country, missing rights, too many requests (`retryAfterMs`).
   * @throws {TransportError} Network failure, timeout, 5xx.
   * @throws {VenueMessageError} The answer is not JSON, or too long.
   */
  get(url: string): Promise<JsonAnswer> {
    return this.#retrying('GET', url, null);
  }

  /** Sends `body` as JSON; fails as `get` does. Only for requests that are safe to repeat. */
  post(url: string, body: unknown): Promise<JsonAnswer> {
    return this.#retrying('POST', url, JSON.stringify(body));
  }

  /** Compares the answers with the known kinds. @param checkPeriodMs See `MessageWatch`. */
  watch(kinds: MessageKinds, checkPeriodMs?: number): MessageWatch {
    const { feed, metrics } = this.#options;
    const checked = checkPeriodMs === undefined ? {} : { checkPeriodMs };
    return new MessageWatch({ feed, kinds, drift: metrics.venueDrift, ...checked });
  }

  /** Aborts requests in flight and closes the connections. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#options.metrics.venueFeeds.leave(this.#state);
    await Promise.all([this.#agent.destroy(), this.#proxy?.destroy()]);
  }

  async #retrying(method: Dispatcher.HttpMethod, url: string, body: string | null): Promise<JsonAnswer> {
    const { feed, clock, random, log, retries = 0 } = this.#options;
    for (let attempt = 0; ; attempt++) {
      try {
        const answer = await this.#once(method, url, body);
        this.#requests.inc({ feed, outcome: 'answered' });
        this.#state.isUp = true;
        this.#state.lastMessageMs = answer.receivedTimeMs;
        return answer;
      } catch (error) {
        this.#requests.inc({ feed, outcome: error instanceof TransportError ? 'failed' : 'refused' });
        this.#state.failed((error as Error).message, clock.now());
        const delayMs = retryDelayMs(error, backoffDelayMs(RETRY, attempt, random));
        if (attempt >= retries || delayMs === null || this.#closing.signal.aborted) throw error;
        log.warn({ feed, err: error, path: pathOf(url), attempt, retryDelayMs: delayMs }, 'request failed');
        await sleep(clock, delayMs, this.#closing.signal);
      }
    }
  }

  async #once(method: Dispatcher.HttpMethod, url: string, body: string | null): Promise<JsonAnswer> {
    const { feed, clock } = this.#options;
    const started = clock.monotonic();
    const abort = new AbortController();
    const timer = clock.after(this.#timeoutMs, () =>
      abort.abort(new Error(`no whole answer in ${this.#timeoutMs} ms`)),
    );
    let status: number;
    let headers: Dispatcher.ResponseData['headers'];
    let text: string;
    try {
      const answer = await request(url, {
        method,
        body,
        dispatcher: this.#proxy !== null && isProxied(url) ? this.#proxy : this.#agent,
        signal: AbortSignal.any([abort.signal, this.#closing.signal]),
        headers: {
          'user-agent': USER_AGENT,
          accept: 'application/json',
          ...(body === null ? {} : { 'content-type': 'application/json' }),
        },
      });
      status = answer.statusCode;
      headers = answer.headers;
      text = await readBounded(answer.body);
    } catch (cause) {
      if (cause instanceof VenueMessageError) throw cause;
      const reason = abort.signal.aborted ? abort.signal.reason : cause;
      throw new TransportError(`${feed}: ${reasonOf(reason)}`, { cause });
    } finally {
      timer.cancel();
    }
    const receivedTimeMs = clock.now();
    const roundTripMs = clock.monotonic() - started;
    return {
      body: bodyOf({ feed, url, status, headers, text, receivedTimeMs }),
      receivedTimeMs,
      roundTripMs,
      ageMs: secondsIn(headers.age, /^(\d{1,9})$/),
      maxAgeMs: secondsIn(headers['cache-control'], /(?:^|[\s,])max-age=(\d{1,9})/i),
    };
  }
}

async function readBounded(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) throw new VenueMessageError(`answer longer than ${BODY_BYTES_MAX} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface WholeAnswer {
  feed: string;
  url: string;
  status: number;
  headers: Dispatcher.ResponseData['headers'];
  text: string;
  receivedTimeMs: number;
}

function bodyOf({ feed, url, status, headers, text, receivedTimeMs }: WholeAnswer): unknown {
  const excerpt = text.slice(0, EXCERPT_LENGTH);
  const at = `${feed}: ${status} for ${pathOf(url)}`;
  if (status === 404) return null;
  if (status >= 500) throw new VenueHttpError(`${at}: ${excerpt}`, { status, excerpt });
  if (status === 403 || status === 451) {
    const why = /\b1010\b/.test(text)
      ? 'Cloudflare 1010, this client is banned'
      : 'perhaps a blocked country';
    throw new HttpRefusedError(`${at}, refused (${why}): ${excerpt}`, {
      status,
      excerpt,
      retryAfterMs: null,
    });
  }
  if (status === 429 || status === 418) {
    const retryAfterMs = retryAfterOf(headers['retry-after'], receivedTimeMs);
    const why = status === 418 ? 'banned for too many requests' : 'too many requests';
    throw new HttpRefusedError(`${at}, ${why}: ${excerpt}`, { status, excerpt, retryAfterMs });
  }
  if (status >= 400) {
    throw new HttpRefusedError(`${at}: ${excerpt}`, { status, excerpt, retryAfterMs: null });
  }
  if (status !== 200) throw new VenueMessageError(`${at}: unexpected status`);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const what = /^\s*</.test(text) ? 'HTML instead of JSON' : 'no whole JSON';
    throw new VenueMessageError(`${at}: ${what}: ${excerpt}`, { cause });
  }
}

/** A header's seconds as milliseconds; 0 where it has none. */
function secondsIn(header: string | string[] | undefined, pattern: RegExp): number {
  const [, seconds] = pattern.exec(String(header ?? '').trim()) ?? [];
  return Number(seconds ?? 0) * 1000;
}

/** Milliseconds of a Retry-After header, in seconds or as a date; null when absent or unreadable. */
export function retryAfterOf(header: string | string[] | undefined, nowMs: number): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return null;
  if (/^\d{1,9}(?:\.\d{1,9})?$/.test(text)) return Math.ceil(Number(text) * 1000);
  // Every date has letters; `Date.parse` reads -1 as a month.
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

/** Delay before the failed request is repeated; null for not at all. */
function retryDelayMs(error: unknown, backoffMs: number): number | null {
  if (error instanceof TransportError) return backoffMs;
  if (!(error instanceof VenueRefusedError) || error.retryAfterMs === null) return null;
  return error.retryAfterMs <= RETRY_AFTER_HONOURED_MS ? Math.max(backoffMs, error.retryAfterMs) : null;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function pathOf(url: string): string {
  return new URL(url).pathname;
}
