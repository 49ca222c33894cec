import { type BackoffLimits, backoffDelayMs } from '../runtime/backoff.ts';
import { type Clock, every, type Timer } from '../runtime/clock.ts';
import { UnderroundError, VenueRefusedError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { PerpDepthEvent } from '../schema/events.ts';
import type { Ticker } from '../schema/market.ts';
import type { MessageWatch } from './drift/messageWatch.ts';
import { HttpClient, HttpRefusedError } from './http.ts';
import {
  type BookRequest,
  OUTDATED_MAX_MS,
  PERP_FEEDS,
  PerpRefusedError,
  type PerpVenue,
  type Refusal,
} from './perpVenue.ts';
import { notAhead } from './venueTime.ts';

/** The specification's cadence; a venue that allows fewer requests for so many symbols is polled less often. */
const PERIOD_MS = 200;
const TIMEOUT_MS = 2_000;
/** The pause that Bybit documents for its ban, and more than the shortest ban of Binance. */
const BANNED_PAUSE_MS = 600_000;
/** The longest ban that a venue documents (Binance: 3 days). */
const BAN_MAX_MS = 3 * 86_400_000;
const TRANSPORT: BackoffLimits = { firstMs: 400, maxMs: 10_000 };
const RATE_LIMITED: BackoffLimits = { firstMs: 2_000, maxMs: 60_000 };
const REFUSED: BackoffLimits = { firstMs: 30_000, maxMs: 600_000 };
const RETRY_AFTER_MAX_MS = 600_000;

interface PerpPollerOptions {
  /** See `HttpClient`. */
  readonly proxyUrl?: string | null;
  readonly venue: PerpVenue;
  /** Base of the venue's REST interface. */
  readonly url: string;
  readonly tickers: readonly Ticker[];
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Called once for each answer with a new state of a book. */
  readonly onEvent: (event: PerpDepthEvent) => void;
}

type Failure = 'transport' | 'invalid' | Refusal;
type Outcome = 'changed' | 'unchanged' | 'outdated';

/** Polling state of one symbol. */
interface Symbol {
  readonly ticker: Ticker;
  readonly request: BookRequest;
  inFlight: boolean;
  last: PerpDepthEvent | null;
  /** Since when every answer was older than the last event; null: the last answer was not. */
  outdatedSince: number | null;
  failures: number;
  pausedUntil: number;
}

/**
 * Polls the perpetual books of one venue on a grid that does not drift, with at most one request in flight per symbol.
 * Tickers that the venue does not list are left out.
 */
export class PerpPoller {
  readonly #options: PerpPollerOptions;
  readonly #feed: string;
  readonly #http: HttpClient;
  readonly #watch: MessageWatch;
  readonly #polls;
  readonly #timers = new Set<Timer>();
  /** A ban or a rate limit applies to the address, so all symbols wait. */
  #allPausedUntil = 0;
  #closed = false;

  constructor(options: PerpPollerOptions) {
    this.#options = options;
    const { venue, clock, metrics } = options;
    this.#feed = PERP_FEEDS[venue.name];
    const symbols = options.tickers.flatMap((ticker) => symbolOf(venue, ticker));
    this.#http = new HttpClient({
      ...options,
      feed: this.#feed,
      connections: Math.max(1, symbols.length),
      timeoutMs: TIMEOUT_MS,
    });
    this.#watch = this.#http.watch(venue.kinds);
    this.#polls = metrics.counter('underround_perp_polls_total', 'Polls of perpetual books by outcome', [
      'venue',
      'ticker',
      'outcome',
    ]);
    const periodMs = Math.max(PERIOD_MS, Math.ceil(venue.spacingMs * symbols.length));
    symbols.forEach((symbol, index) => {
      const stagger = clock.after((index * periodMs) / symbols.length, () => {
        this.#timers.delete(stagger);
        this.#timers.add(every(clock, periodMs, () => void this.#poll(symbol)));
        void this.#poll(symbol);
      });
      this.#timers.add(stagger);
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const timer of this.#timers) timer.cancel();
    await this.#http.close();
  }

  async #poll(symbol: Symbol): Promise<void> {
    const { venue, clock } = this.#options;
    if (symbol.inFlight) return this.#count(symbol, 'skipped_in_flight');
    if (clock.monotonic() < Math.max(symbol.pausedUntil, this.#allPausedUntil)) {
      return this.#count(symbol, 'skipped_paused');
    }
    symbol.inFlight = true;
    try {
      const { body, ...times } = await this.#ask(symbol.request);
      if (this.#closed) return;
      const read = (raw: unknown) => notAhead(venue.map(raw, { ticker: symbol.ticker, ...times }));
      this.#answered(symbol, this.#watch.read('orderbook', body, times.receivedTimeMs, read));
    } catch (error) {
      if (!(error instanceof UnderroundError)) throw error;
      if (!this.#closed) this.#failed(symbol, error);
    } finally {
      symbol.inFlight = false;
    }
  }

  #ask({ path, body }: BookRequest): ReturnType<HttpClient['get']> {
    const url = `${this.#options.url}${path}`;
    return body === undefined ? this.#http.get(url) : this.#http.post(url, body);
  }

  #count({ ticker }: Symbol, outcome: string): void {
    this.#polls.inc({ venue: this.#options.venue.name, ticker, outcome });
  }

  #answered(symbol: Symbol, event: PerpDepthEvent): void {
    const { ticker, last } = symbol;
    if (symbol.failures > 0) {
      this.#options.log.info(
        { feed: this.#feed, ticker, failures: symbol.failures },
        'perp polling recovered',
      );
      symbol.failures = 0;
    }
    const outcome = last === null ? 'changed' : this.#outcomeOf(event, last, symbol);
    this.#count(symbol, outcome);
    if (outcome !== 'changed') return;
    symbol.last = event;
    this.#options.onEvent(event);
  }

  #outcomeOf(event: PerpDepthEvent, last: PerpDepthEvent, symbol: Symbol): Outcome {
    const nowAt = this.#options.clock.monotonic();
    const outcome = outcomeOf(event, last);
    if (outcome === 'outdated') {
      symbol.outdatedSince ??= nowAt;
      if (nowAt - symbol.outdatedSince <= OUTDATED_MAX_MS) return outcome;
    }
    symbol.outdatedSince = null;
    return outcome === 'outdated' ? 'changed' : outcome;
  }

  #failed(symbol: Symbol, error: UnderroundError): void {
    const { venue, clock, random, log } = this.#options;
    const failure = failureOf(venue, error);
    const pauseMs = pauseOf(failure, error, { attempt: symbol.failures++, random });
    const until = clock.monotonic() + pauseMs;
    const isOfAddress = failure === 'banned' || failure === 'rate_limited';
    // Of several requests in flight, one that is only limited must not end the ban that another reported.
    if (isOfAddress) this.#allPausedUntil = Math.max(this.#allPausedUntil, until);
    else symbol.pausedUntil = until;
    const { ticker, failures } = symbol;
    this.#count(symbol, failure);
    log.warn({ feed: this.#feed, ticker, failure, err: error, failures, pauseMs }, 'perp poll failed');
  }
}

function symbolOf(venue: PerpVenue, ticker: Ticker): Symbol[] {
  const name = venue.symbols[ticker];
  if (name === null) return [];
  const state = { inFlight: false, last: null, outdatedSince: null, failures: 0, pausedUntil: 0 };
  return [{ ticker, request: venue.request(name), ...state }];
}

/**
 * Compares a book with the last one. It may be an older state: several services of a venue may answer, each with a cache
 * of its own. A lower number with a later time is a venue that counts from the start again.
 */
function outcomeOf(event: PerpDepthEvent, last: PerpDepthEvent): Outcome {
  if (event.updateId === last.updateId) return 'unchanged';
  const isOlder = event.updateId < last.updateId && event.eventTimeMs < last.eventTimeMs;
  return isOlder ? 'outdated' : 'changed';
}

function failureOf(venue: PerpVenue, error: UnderroundError): Failure {
  if (error instanceof PerpRefusedError) return error.refusal;
  if (error instanceof HttpRefusedError) return venue.refusalOf(error);
  return error.code === 'transport_failed' ? 'transport' : 'invalid';
}

function pauseOf(
  failure: Failure,
  error: UnderroundError,
  backoff: { attempt: number; random: () => number },
): number {
  const delay = (limits: BackoffLimits) => backoffDelayMs(limits, backoff.attempt, backoff.random);
  const askedMs = error instanceof VenueRefusedError ? (error.retryAfterMs ?? 0) : 0;
  if (failure === 'banned') return Math.max(BANNED_PAUSE_MS, Math.min(askedMs, BAN_MAX_MS));
  if (failure === 'rate_limited') return Math.max(delay(RATE_LIMITED), Math.min(askedMs, RETRY_AFTER_MAX_MS));
  return delay(failure === 'refused' ? REFUSED : TRANSPORT);
}
