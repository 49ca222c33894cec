import { type BackoffLimits, backoffDelayMs } from '../../runtime/backoff.ts';
import { type Clock, every, type Timer } from '../../runtime/clock.ts';
import { UnderroundError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { PerpDepthEvent } from '../../schema/events.ts';
import type { Ticker } from '../../schema/market.ts';
import type { MessageWatch } from '../drift/messageWatch.ts';
import { HttpClient, HttpRefusedError } from '../http.ts';
import { BybitRefusedError, bybitSymbol, mapBybitAnswer } from './mapper.ts';
import { BYBIT_KINDS } from './messages.ts';

const FEED = 'bybit.rest';
/** 15 requests a second for three symbols; the venue allows 120 a second per address (read 2026-07-24). */
const PERIOD_MS = 200;
const TIMEOUT_MS = 2_000;
const LEVELS = 50;
/** The pause that the venue documents for `403 access too frequent`. */
const BANNED_PAUSE_MS = 600_000;
const TRANSPORT: BackoffLimits = { firstMs: 400, maxMs: 10_000 };
const RATE_LIMITED: BackoffLimits = { firstMs: 2_000, maxMs: 60_000 };
const REFUSED: BackoffLimits = { firstMs: 30_000, maxMs: 600_000 };
const RETRY_AFTER_MAX_MS = 600_000;

interface BybitPollerOptions {
  /** Base of the REST interface. */
  readonly url: string;
  readonly tickers: readonly Ticker[];
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Called once for each answer whose update id differs from the previous one. */
  readonly onEvent: (event: PerpDepthEvent) => void;
}

type Failure = 'transport' | 'banned' | 'rate_limited' | 'refused' | 'invalid';

/** Polling state of one symbol. */
interface Symbol {
  readonly ticker: Ticker;
  readonly url: string;
  inFlight: boolean;
  lastUpdateId: number | null;
  failures: number;
  pausedUntil: number;
}

/** Polls the perpetual books on a grid that does not drift, with at most one request in flight per symbol. */
export class BybitPoller {
  readonly #options: BybitPollerOptions;
  readonly #http: HttpClient;
  readonly #watch: MessageWatch;
  readonly #polls;
  readonly #timers = new Set<Timer>();
  /** A ban or a rate limit applies to the address, so all symbols wait. */
  #allPausedUntil = 0;
  #closed = false;

  constructor(options: BybitPollerOptions) {
    this.#options = options;
    const { clock, tickers, metrics } = options;
    this.#http = new HttpClient({
      ...options,
      feed: FEED,
      connections: tickers.length,
      timeoutMs: TIMEOUT_MS,
    });
    this.#watch = this.#http.watch(BYBIT_KINDS);
    this.#polls = metrics.counter('underround_perp_polls_total', 'Polls of perpetual books by outcome', [
      'ticker',
      'outcome',
    ]);
    tickers.forEach((ticker, index) => {
      const query = `category=linear&symbol=${bybitSymbol(ticker)}&limit=${LEVELS}`;
      const url = `${options.url}/v5/market/orderbook?${query}`;
      const symbol = { ticker, url, inFlight: false, lastUpdateId: null, failures: 0, pausedUntil: 0 };
      const stagger = clock.after((index * PERIOD_MS) / tickers.length, () => {
        this.#timers.delete(stagger);
        this.#timers.add(every(clock, PERIOD_MS, () => void this.#poll(symbol)));
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
    const { clock } = this.#options;
    const { ticker } = symbol;
    if (symbol.inFlight) return this.#polls.inc({ ticker, outcome: 'skipped_in_flight' });
    if (clock.monotonic() < Math.max(symbol.pausedUntil, this.#allPausedUntil)) {
      return this.#polls.inc({ ticker, outcome: 'skipped_paused' });
    }
    symbol.inFlight = true;
    try {
      const { body, ...times } = await this.#http.get(symbol.url);
      if (this.#closed) return;
      const read = (raw: unknown) => mapBybitAnswer(raw, times);
      this.#answered(symbol, this.#watch.read('orderbook', body, times.receivedTimeMs, read));
    } catch (error) {
      if (!(error instanceof UnderroundError)) throw error;
      if (!this.#closed) this.#failed(symbol, error);
    } finally {
      symbol.inFlight = false;
    }
  }

  #answered(symbol: Symbol, event: PerpDepthEvent): void {
    const { ticker } = symbol;
    if (symbol.failures > 0) {
      this.#options.log.info({ feed: FEED, ticker, failures: symbol.failures }, 'perp polling recovered');
      symbol.failures = 0;
    }
    const unchanged = event.updateId === symbol.lastUpdateId;
    this.#polls.inc({ ticker, outcome: unchanged ? 'unchanged' : 'changed' });
    if (unchanged) return;
    symbol.lastUpdateId = event.updateId;
    this.#options.onEvent(event);
  }

  #failed(symbol: Symbol, error: UnderroundError): void {
    const { clock, random, log } = this.#options;
    const failure = failureOf(error);
    const pauseMs = pauseOf(failure, error, { attempt: symbol.failures++, random });
    const until = clock.monotonic() + pauseMs;
    if (failure === 'banned' || failure === 'rate_limited') this.#allPausedUntil = until;
    else symbol.pausedUntil = until;
    const { ticker } = symbol;
    this.#polls.inc({ ticker, outcome: failure });
    log.warn(
      { feed: FEED, ticker, failure, err: error, failures: symbol.failures, pauseMs },
      'perp poll failed',
    );
  }
}

function failureOf(error: UnderroundError): Failure {
  if (error instanceof BybitRefusedError) return error.isRateLimit ? 'rate_limited' : 'refused';
  if (error instanceof HttpRefusedError) {
    if (/access too frequent/i.test(error.excerpt)) return 'banned';
    if (error.status === 429 || /"retCode"\s*:\s*(10006|10018)\b/.test(error.excerpt)) return 'rate_limited';
    return 'refused';
  }
  return error.code === 'transport_failed' ? 'transport' : 'invalid';
}

function pauseOf(
  failure: Failure,
  error: UnderroundError,
  backoff: { attempt: number; random: () => number },
): number {
  const delay = (limits: BackoffLimits) => backoffDelayMs(limits, backoff.attempt, backoff.random);
  if (failure === 'banned') return BANNED_PAUSE_MS;
  if (failure === 'rate_limited') {
    const asked = error instanceof HttpRefusedError ? (error.retryAfterMs ?? 0) : 0;
    return Math.max(delay(RATE_LIMITED), Math.min(asked, RETRY_AFTER_MAX_MS));
  }
  return delay(failure === 'refused' ? REFUSED : TRANSPORT);
}
