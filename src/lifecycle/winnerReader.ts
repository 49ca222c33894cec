import type { NamedWinner } from '../recorder/marketMerge.ts';
import { SerialQueue } from '../recorder/serialQueue.ts';
import type { Clock } from '../runtime/clock.ts';
import { UnderroundError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import type { Market } from '../schema/market.ts';
import type { ClobMarket } from '../venues/polymarket/clob/rest.ts';

/** How long after a market's end to ask the exchange; the stream and the listing usually answer sooner. */
const ASK_AFTER_END_MS = 60_000;
/**
 * The same while the Data API answers: its outcomes are preferred, because the exchange's record of a market was seen
 * outdated (2026-10-04) and is not part of its documented interface.
 */
const ASK_LAST_AFTER_END_MS = 180_000;
/** Most markets in the queue; others are requested at their next poll. */
const WAITING_MAX = 100;

/** The exchange's record of a market, by condition id; null when unknown there. */
export interface ExchangeMarkets {
  market(conditionId: string): Promise<ClobMarket | null>;
}

interface WinnerReaderOptions {
  exchange: ExchangeMarkets;
  clock: Clock;
  log: Logger;
  /** Whether the Data API answers. */
  isLast: () => boolean;
  onWinner: (market: Market, named: NamedWinner) => void;
  /** The record states the market's own taker delay. */
  onDelay: (market: Market, takerDelayMs: number) => void;
}

/** Requests winners from the exchange, one market at a time, when neither stream nor listing has named one. */
export class WinnerReader {
  readonly #options: WinnerReaderOptions;
  readonly #queue = new SerialQueue<Market>({ waitingMax: WAITING_MAX, work: (market) => this.#ask(market) });
  #stopped = false;

  constructor(options: WinnerReaderOptions) {
    this.#options = options;
  }

  stop(): void {
    this.#stopped = true;
    this.#queue.clear();
  }

  /** Call it at each step of a market's schedule; ignores a market that is resolved or has just ended. */
  ask(market: Market, nowMs: number): void {
    const afterMs = this.#options.isLast() ? ASK_LAST_AFTER_END_MS : ASK_AFTER_END_MS;
    if (market.status === 'resolved' || nowMs < market.endTimeMs + afterMs) return;
    this.#queue.add(market.marketId, market);
  }

  async #ask(market: Market): Promise<void> {
    const { exchange, clock, log, onWinner, onDelay } = this.#options;
    const { marketId, slug } = market;
    try {
      const answer = await exchange.market(marketId);
      if (!this.#stopped && answer !== null && answer.takerDelayMs !== null)
        onDelay(market, answer.takerDelayMs);
      // A tie has no winner here: only the listing distinguishes it from an undecided market.
      if (this.#stopped || answer === null || answer.winner === null) return;
      const named = { tokenId: answer.winner.tokenId, timeMs: clock.now(), by: 'exchange' } as const;
      onWinner(market, named);
    } catch (error) {
      if (!(error instanceof UnderroundError)) throw error;
      log.warn({ slug, code: error.code, reason: error.message }, 'exchange.failed');
    }
  }
}
