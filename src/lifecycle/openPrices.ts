import type { SettlementRule } from '../core/venueRulesTable.ts';
import type { BackoffLimits } from '../runtime/backoff.ts';
import type { Clock } from '../runtime/clock.ts';
import { UnderroundError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import { Backoff } from '../runtime/reconnectBackoff.ts';
import { type Market, UNKNOWN } from '../schema/market.ts';
import { HttpRefusedError } from '../venues/http.ts';
import { hasOpenPrice, type OpenPriceQuery } from '../venues/polymarket/cryptoPrice/client.ts';

/** The price exists 2-3 s after the open, and so does the relayed one: only a missing one is requested. */
const WANTED_AFTER_MS = 3_000;
/** The endpoint answers 429 soon: one request in this time, for all windows together. */
const ASK_PERIOD_MS = 5_000;
/** The endpoint caches an answer for this long, so an earlier repetition would be the same. */
const REPEAT_AFTER_MS = 10_000;
const TOO_MANY_PAUSE_MS = 30_000;
const FAILED: BackoffLimits = { firstMs: 30_000, maxMs: 600_000 };
/** A window that was not asked for again within this time has a better price by now. */
const FORGET_AFTER_MS = 5_000;

/** The part of the endpoint's client that strikes need. */
export interface OpenPriceSource {
  openPrice(query: OpenPriceQuery): Promise<number | null>;
}

interface OpenPricesOptions {
  readonly source: OpenPriceSource;
  readonly clock: Clock;
  /** 0 <= x < 1, for the jitter of the back-off. */
  readonly random: () => number;
  readonly log: Logger;
}

interface WantedPrice {
  readonly query: OpenPriceQuery;
  price: number | null;
  /** Monotonic. */
  askedAt: number;
  /** When a reader last wanted it; monotonic. */
  wantedAt: number;
}

/**
 * Open prices of windows that no price stream has a strike for. Requests go out one at a time and at a polite rate: first
 * for windows not asked for yet, of these the one that ends first.
 */
export class OpenPrices {
  readonly #options: OpenPricesOptions;
  readonly #wanted = new Map<string, WantedPrice>();
  readonly #backoff: Backoff;
  /** Monotonic. */
  #askedAt = Number.NEGATIVE_INFINITY;
  #isAsking = false;
  /** When the endpoint last answered; null before. */
  answeredMs: number | null = null;

  constructor(options: OpenPricesOptions) {
    this.#options = options;
    this.#backoff = new Backoff(FAILED, options.random);
  }

  get isFailing(): boolean {
    return this.#backoff.tries > 0;
  }

  /** Returns the price if it is known by now; otherwise null, and requests it while the window is open. */
  openPrice(market: Market, rule: SettlementRule, nowMs: number): number | null {
    const { slug, ticker, eventType, startTimeMs, endTimeMs } = market;
    if (rule.kind !== 'chainlink_twap' || ticker === UNKNOWN || eventType === UNKNOWN) return null;
    if (!hasOpenPrice(eventType)) return null;
    if (nowMs < startTimeMs + WANTED_AFTER_MS || nowMs >= endTimeMs) return null;
    const query = { ticker, eventType, startTimeMs, endTimeMs, lookbackSeconds: rule.lookbackSeconds };
    const wanted = this.#wanted.get(slug);
    const nowAt = this.#options.clock.monotonic();
    if (wanted === undefined) {
      // Requested from the next call on, when every window of this moment is known and the first to end can be chosen.
      this.#wanted.set(slug, { query, price: null, askedAt: Number.NEGATIVE_INFINITY, wantedAt: nowAt });
      return null;
    }
    wanted.wantedAt = nowAt;
    if (wanted.price === null) this.#askNext(nowAt);
    return wanted.price;
  }

  #askNext(nowAt: number): void {
    if (this.#isAsking || nowAt - this.#askedAt < ASK_PERIOD_MS || !this.#backoff.ready(nowAt)) return;
    let next: WantedPrice | null = null;
    for (const [slug, wanted] of this.#wanted) {
      if (nowAt - wanted.wantedAt > FORGET_AFTER_MS) this.#wanted.delete(slug);
      else if (wanted.price === null && nowAt - wanted.askedAt >= REPEAT_AFTER_MS)
        next = next === null || isBefore(wanted, next) ? wanted : next;
    }
    if (next !== null) void this.#ask(next, nowAt);
  }

  async #ask(wanted: WantedPrice, nowAt: number): Promise<void> {
    const { source, clock, log } = this.#options;
    this.#isAsking = true;
    this.#askedAt = wanted.askedAt = nowAt;
    try {
      wanted.price = await source.openPrice(wanted.query);
      this.answeredMs = clock.now();
      this.#backoff.reset();
    } catch (error) {
      if (!(error instanceof UnderroundError)) throw error;
      const isTooMany = error instanceof HttpRefusedError && error.status === 429;
      const atLeastMs = isTooMany ? Math.max(TOO_MANY_PAUSE_MS, error.retryAfterMs ?? 0) : 0;
      const retryInMs = this.#backoff.failed(clock.monotonic(), atLeastMs);
      const { ticker, eventType, startTimeMs } = wanted.query;
      const { code, message: reason } = error;
      log.warn({ ticker, eventType, startTimeMs, code, reason, retryInMs }, 'open_price.failed');
    } finally {
      this.#isAsking = false;
    }
  }
}

function isBefore(a: WantedPrice, b: WantedPrice): boolean {
  return a.askedAt === b.askedAt ? a.query.endTimeMs < b.query.endTimeMs : a.askedAt < b.askedAt;
}
