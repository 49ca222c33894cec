import { TICKS_PER_USDC } from '../../../core/money.ts';
import { PROTOCOL_VERSIONS } from '../../../schema/protocol.ts';
import { bookHash } from './bookHash.ts';
import { tradePriceText } from './lastTradeGuesser.ts';
import type { MarketBook } from './marketBook.ts';
import type { TokenBook } from './tokenBook.ts';

/** Trades that are remembered while a state is unproven: it becomes a gap after a second. */
const TRADES_MAX = 64;

interface TokenState {
  readonly tokenId: string;
  readonly timestampMs: number;
  readonly hash: string | null;
  readonly bidsJson: string;
  readonly asksJson: string;
}

/**
 * A copy of a state whose announced hashes did not verify. The message of a trade may have been late, or a frame may
 * have been lost. Once the missing message is here, the copy shows which: a complete state verifies with it.
 */
export class UnprovenState {
  #tokens: readonly TokenState[];
  readonly #tickSize: string;
  readonly #trades: Set<string>;

  constructor({ yes, no, context }: Pick<MarketBook, 'yes' | 'no' | 'context'>) {
    this.#tokens = [yes, no].map(stateOf);
    this.#tickSize = context.tickSize;
    this.#trades = new Set([context.lastTradePrice]);
  }

  /** Late frames have completed the state: their absence is no loss any more. */
  retake({ yes, no, context }: Pick<MarketBook, 'yes' | 'no' | 'context'>): void {
    this.#tokens = [yes, no].map(stateOf);
    this.#trades.add(context.lastTradePrice);
  }

  /** A trade of the market arrived, in whatever order. @param price Ticks. */
  noteTrade(price: number): void {
    if (this.#trades.size >= TRADES_MAX) return;
    this.#trades.add(tradePriceText(price));
    this.#trades.add(tradePriceText(TICKS_PER_USDC - price));
  }

  /** Whether the state verifies with an input that has arrived since; also true where no hash can say so. */
  isRight({ context, recipeProven }: Pick<MarketBook, 'context' | 'recipeProven'>): boolean {
    if (!recipeProven || this.#tokens.some(({ hash }) => hash === null)) return true;
    const { marketId, minOrderSize, negRisk, version } = context;
    for (const lastTradePrice of new Set([context.lastTradePrice, ...this.#trades]))
      for (const tickSize of new Set([context.tickSize, this.#tickSize]))
        for (const recipe of version === null ? PROTOCOL_VERSIONS : [version]) {
          const inputs = { marketId, minOrderSize, negRisk, lastTradePrice, tickSize, version: recipe };
          if (this.#tokens.every((token) => bookHash({ ...token, ...inputs }) === token.hash)) return true;
        }
    return false;
  }
}

function stateOf({ tokenId, timeMs, announcedHash, bids, asks }: TokenBook): TokenState {
  return {
    ...{ tokenId, timestampMs: timeMs, hash: announcedHash },
    ...{ bidsJson: bids.toWireJson(), asksJson: asks.toWireJson() },
  };
}
