import type { LadderSide } from '../../../core/ladderSide.ts';
import { TICKS_PER_USDC } from '../../../core/money.ts';
import type { BookChangeEvent, LevelChange } from '../../../schema/events.ts';
import { PROTOCOL_VERSIONS } from '../../../schema/protocol.ts';
import { LATE_FRAME_MS } from './bookAction.ts';
import { bookHash } from './bookHash.ts';
import { tradePriceText } from './lastTradeGuesser.ts';
import type { MarketBook } from './marketBook.ts';
import type { RecentChangeLog } from './recentChangeLog.ts';
import type { HashContext, TokenBook } from './tokenBook.ts';

/** Trades that are remembered while states are unproven: they become a gap after a second. */
const TRADES_MAX = 64;

/** States that are remembered. Later ones are not checked: with a trade each, more hashes would cost too much. */
const STATES_MAX = 32;

type Books = Pick<MarketBook, 'yes' | 'no' | 'context'>;

interface TokenState {
  readonly tokenId: string;
  timestampMs: number;
  readonly snapshotTimeMs: number;
  hash: string | null;
  readonly bids: LadderSide;
  readonly asks: LadderSide;
}

type State = readonly [yes: TokenState, no: TokenState];

/**
 * Copies of the consecutive states whose announced hashes did not verify. A message of a trade or a frame may have been
 * late, or a frame may have been lost. Once the book is proven again, the copies show which: with what has arrived since,
 * complete states verify. A later action that sets a lost level again completes no copy.
 */
export class UnprovenStates {
  readonly #states: State[] = [];
  readonly #tickSize: string;
  readonly #trades = new Set<string>();
  #wasOverdue = false;

  constructor(books: Books) {
    this.#tickSize = books.context.tickSize;
    this.add(books);
  }

  /** The state after a further action, unless it is the last one again. */
  add({ yes, no, context }: Books): void {
    this.#trades.add(context.lastTradePrice);
    const last = this.#states.at(-1);
    if (last !== undefined && isStateOf(last[0], yes) && isStateOf(last[1], no)) return;
    if (this.#states.length < STATES_MAX) this.#states.push([stateOf(yes), stateOf(no)]);
  }

  /** A trade of the market arrived, in whatever order. @param price Ticks. */
  noteTrade(price: number): void {
    if (this.#trades.size >= TRADES_MAX) return;
    this.#trades.add(tradePriceText(price));
    this.#trades.add(tradePriceText(TICKS_PER_USDC - price));
  }

  /**
   * A frame of the market arrived, not yet applied to the book: it completes the states of its own action and of later
   * ones.
   * @param recent The changes that arrived before it.
   */
  noteChanges(event: BookChangeEvent, recent: RecentChangeLog): void {
    let isFirst = true;
    for (const state of this.#states) {
      const stateTimeMs = Math.max(state[0].timestampMs, state[1].timestampMs);
      if (event.eventTimeMs > stateTimeMs) continue;
      const isOverdue = isFirst && stateTimeMs - event.eventTimeMs > LATE_FRAME_MS;
      isFirst = false;
      for (const change of event.changes) {
        const at = change.tokenId === state[0].tokenId ? 0 : 1;
        const isNewest = () => recent.isNewest(at, change.side, change.price, event.eventTimeMs, stateTimeMs);
        const isCompleted = complete(state[at], change, { timeMs: event.eventTimeMs, isNewest });
        if (isCompleted && isOverdue) this.#wasOverdue = true;
      }
    }
  }

  /** A late frame completed a state that is so much newer that states between the two were lost. */
  get wasOverdue(): boolean {
    return this.#wasOverdue;
  }

  /** Whether all states verify with an input that has arrived since; also true where no hash can say so. */
  areRight({ context, recipeProven }: Pick<MarketBook, 'context' | 'recipeProven'>): boolean {
    if (!recipeProven) return true;
    return this.#states.every((state) => this.#isRight(state, context));
  }

  #isRight(state: State, context: HashContext): boolean {
    if (state.some(({ hash }) => hash === null)) return true;
    const { marketId, minOrderSize, negRisk, version } = context;
    for (const lastTradePrice of new Set([context.lastTradePrice, ...this.#trades]))
      for (const tickSize of new Set([context.tickSize, this.#tickSize]))
        for (const recipe of version === null ? PROTOCOL_VERSIONS : [version]) {
          const inputs = { marketId, minOrderSize, negRisk, lastTradePrice, tickSize, version: recipe };
          if (state.every((token) => hashOf(token, inputs) === token.hash)) return true;
        }
    return false;
  }
}

/**
 * @param frame.isNewest Whether no newer frame of the state's time has set the level.
 * @returns Whether a level of the state changed.
 */
function complete(
  token: TokenState,
  { tokenId, side, price, size, hash }: LevelChange,
  { timeMs, isNewest }: { timeMs: number; isNewest: () => boolean },
): boolean {
  // Without a hash no level can prove the state.
  if (tokenId !== token.tokenId || token.hash === null || timeMs < token.snapshotTimeMs) return false;
  if (timeMs < token.timestampMs && !isNewest()) return false;
  // Another hash at the same time is that of another action.
  if (timeMs === token.timestampMs && hash !== token.hash) return false;
  if (timeMs > token.timestampMs) {
    token.timestampMs = timeMs;
    token.hash = hash;
  }
  return (side === 'BUY' ? token.bids : token.asks).set(price, size);
}

function hashOf(
  { tokenId, timestampMs, bids, asks }: TokenState,
  inputs: Omit<Parameters<typeof bookHash>[0], 'tokenId' | 'timestampMs' | 'bidsJson' | 'asksJson'>,
): string {
  return bookHash({
    ...{ tokenId, timestampMs },
    ...{ bidsJson: bids.toWireJson(), asksJson: asks.toWireJson() },
    ...inputs,
  });
}

function stateOf({ tokenId, timeMs, snapshotTimeMs, announcedHash, bids, asks }: TokenBook): TokenState {
  return {
    ...{ tokenId, timestampMs: timeMs, snapshotTimeMs, hash: announcedHash },
    ...{ bids: bids.clone(), asks: asks.clone() },
  };
}

function isStateOf({ timestampMs, hash }: TokenState, { timeMs, announcedHash }: TokenBook): boolean {
  return timestampMs === timeMs && hash === announcedHash;
}
