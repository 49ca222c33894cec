import type { BackoffLimits } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import { TransportError, UnderroundError, VenueRefusedError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { Backoff } from '../runtime/reconnectBackoff.ts';
import type { Market } from '../schema/market.ts';
import { HttpRefusedError } from '../venues/http.ts';
import {
  CONDITIONS_PER_REQUEST,
  type DataApi,
  type ReportedPayout,
} from '../venues/polymarket/dataApi/resolutions.ts';

const RETRY: BackoffLimits = { firstMs: 2_000, maxMs: 60_000 };
/** Failed requests for one market until its next poll adds it again. */
const TRIES_MAX = 3;
const WAITING_MAX = 200;
const CONDITION_ID = /^0x[0-9a-f]{64}$/i;

/** A market's final payout of one YES share, and when the venue resolved it. */
export interface NamedPayout {
  readonly payoutYes: number;
  readonly timeMs: number;
}

/** The part of the Data API that settlement needs. */
export type Payouts = Pick<DataApi, 'resolutions'>;

interface PayoutReaderOptions {
  readonly payouts: Payouts;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly onPayout: (market: Market, named: NamedPayout) => void;
}

interface WaitingMarket {
  readonly market: Market;
  readonly upIndex: 0 | 1;
  tries: number;
}

/** Requests the outcomes of ended markets from the Data API, many in one request, one request at a time. */
export class PayoutReader {
  readonly #options: PayoutReaderOptions;
  readonly #waiting = new Map<string, WaitingMarket>();
  readonly #backoff: Backoff;
  readonly #answers;
  #isAsking = false;
  #stopped = false;

  constructor(options: PayoutReaderOptions) {
    this.#options = options;
    this.#backoff = new Backoff(RETRY, options.random);
    this.#answers = options.metrics.counter(
      'underround_payouts_asked_total',
      'Outcomes asked of the Data API, by what the answer said',
      ['outcome'],
    );
  }

  /** Whether the last request was answered. */
  get isAvailable(): boolean {
    return this.#backoff.tries === 0;
  }

  stop(): void {
    this.#stopped = true;
    this.#waiting.clear();
  }

  /**
   * Adds an ended market without outcome to the next request.
   * @param upIndex The place of Up in the listing's outcomes, which is the order of the payouts.
   */
  add(market: Market, upIndex: 0 | 1): void {
    if (this.#waiting.size >= WAITING_MAX || !CONDITION_ID.test(market.marketId)) return;
    this.#waiting.set(market.marketId.toLowerCase(), { market, upIndex, tries: 0 });
  }

  /** Sends the next request when it is due; call it once a second. */
  tick(): void {
    const nowAt = this.#options.clock.monotonic();
    if (this.#isAsking || this.#waiting.size === 0 || !this.#backoff.ready(nowAt)) return;
    const asked = new Map([...this.#waiting].slice(0, CONDITIONS_PER_REQUEST));
    for (const marketId of asked.keys()) this.#waiting.delete(marketId);
    this.#isAsking = true;
    void this.#ask(asked).finally(() => {
      this.#isAsking = false;
    });
  }

  async #ask(asked: ReadonlyMap<string, WaitingMarket>): Promise<void> {
    const { payouts, log } = this.#options;
    try {
      const { final, unusable } = await payouts.resolutions([...asked.keys()]);
      this.#backoff.reset();
      if (this.#stopped) return;
      this.#answers.inc({ outcome: 'unusable' }, unusable.length);
      if (unusable.length > 0) log.warn({ rows: unusable.slice(0, 3) }, 'payouts.unusable');
      for (const reported of final) this.#onReported(asked, reported);
      this.#answers.inc({ outcome: 'open' }, Math.max(0, asked.size - final.length - unusable.length));
    } catch (error) {
      if (!(error instanceof UnderroundError)) throw error;
      this.#failed(asked, error);
    }
  }

  #onReported(asked: ReadonlyMap<string, WaitingMarket>, reported: ReportedPayout): void {
    const { clock, onPayout } = this.#options;
    const { marketId, firstPayout, resolvedTimeMs } = reported;
    const waiting = asked.get(marketId);
    if (waiting === undefined) return;
    this.#answers.inc({ outcome: 'final' });
    const payoutYes = waiting.upIndex === 0 ? firstPayout : 1 - firstPayout;
    onPayout(waiting.market, { payoutYes, timeMs: resolvedTimeMs ?? clock.now() });
  }

  #failed(asked: ReadonlyMap<string, WaitingMarket>, error: UnderroundError): void {
    const { clock, log } = this.#options;
    const retryAfterMs = error instanceof VenueRefusedError ? (error.retryAfterMs ?? 0) : 0;
    const retryInMs = this.#backoff.failed(clock.monotonic(), retryAfterMs);
    this.#answers.inc({ outcome: 'failed' }, asked.size);
    const mayRepeat = isRetryable(error) && !this.#stopped;
    for (const [marketId, waiting] of asked) {
      waiting.tries++;
      if (mayRepeat && waiting.tries < TRIES_MAX && !this.#waiting.has(marketId))
        this.#waiting.set(marketId, waiting);
    }
    const { code, message: reason } = error;
    log.warn({ code, reason, markets: asked.size, mayRepeat, retryInMs }, 'payouts.failed');
  }
}

/** Refusals say themselves whether the same request may be repeated. */
function isRetryable(error: UnderroundError): boolean {
  if (error instanceof TransportError) return true;
  if (!(error instanceof HttpRefusedError)) return false;
  return error.status === 429 || /"retryable"\s*:\s*true/.test(error.excerpt);
}
