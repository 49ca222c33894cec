/** Runs a whole recorded market through a session. */
import { Ledger } from '../ledger.ts';
import type { CostChange, Trade, TradeResult } from './position.ts';
import type { PreparedMarket } from './prepare.ts';
import { MarketSession, type SessionTerms } from './session.ts';
import { NO_ORDERS, type OrderCounts, type SessionListener } from './sessionEvents.ts';
import type { Resolution } from './tape.ts';

/** Why a market is skipped; reported for each one, so that the number of markets is never silently smaller. */
export type SkipReason =
  /** The venue has not named an outcome. */
  | 'unresolved'
  /** The book was never proven inside the window, or books of a part of it are no longer stored. */
  | 'gap'
  /** Nothing was recorded inside the window. */
  | 'no_data'
  /** Nothing was traded, the strategy needs the strike, and it was never known. */
  | 'no_strike'
  /** Orders walk the book, or the strategy reads it, and no book was recorded, or none is stored any more. */
  | 'no_books'
  /** The recording exceeds a replay's memory limit; reported by the tape loader. */
  | 'too_large';

export interface MarketReplay {
  readonly skipped: SkipReason | null;
  readonly trades: readonly Trade[];
  readonly orders: OrderCounts;
  /** Cost of the shares that the venue paid out, whole micro-USD without fees. */
  readonly paidOutCost: number;
  /** Of all trades, in no order. */
  readonly costChanges: readonly CostChange[];
}

/** @param resolution As the venue named it; null: not yet. @param listener Receives all session events. */
export function replayMarket(
  prepared: PreparedMarket,
  terms: SessionTerms,
  {
    resolution,
    ledger = new Ledger(),
    listener = null,
  }: {
    resolution: Resolution | null;
    ledger?: Ledger;
    listener?: SessionListener | null;
  },
): MarketReplay {
  const skipped = skipReason(prepared, terms, resolution);
  if (skipped !== null || resolution === null)
    return { skipped, trades: [], orders: NO_ORDERS, paidOutCost: 0, costChanges: [] };
  const session = new MarketSession(prepared, { terms, ledger, listener });
  toTheEnd(session, prepared);
  const held = ledger.positions;
  session.settle(resolution);
  const paidOutCost = held - ledger.positions;
  const trades = session.trades();
  return {
    skipped: trades.length === 0 ? blindness(prepared, terms) : null,
    trades,
    orders: session.orders,
    paidOutCost,
    costChanges: session.costChanges(),
  };
}

/** The result of each trade, as `replayMarket` finds them; for the cells of a sweep, which need no more. */
export function replayResults(
  prepared: PreparedMarket,
  terms: SessionTerms,
  resolution: Resolution | null,
): { readonly skipped: SkipReason | null; readonly results: readonly TradeResult[] } {
  const skipped = skipReason(prepared, terms, resolution);
  if (skipped !== null || resolution === null) return { skipped, results: [] };
  const session = new MarketSession(prepared, { terms, ledger: new Ledger() });
  toTheEnd(session, prepared);
  session.settle(resolution);
  const results = session.tradeResults();
  return { skipped: results.length === 0 ? blindness(prepared, terms) : null, results };
}

function toTheEnd(session: MarketSession, { rows, lastGapRow }: PreparedMarket): void {
  const { count } = rows;
  for (let row = 0; row < count; row = session.next()) {
    session.step(row);
    if (session.finished && row >= lastGapRow) break;
  }
}

/** Of a replay without trades. Decided afterwards: no strategy could know whether a strike would still arrive. */
function blindness({ market }: PreparedMarket, { strategy }: SessionTerms): SkipReason | null {
  return strategy.needs.strike && !strikeKnown(market) ? 'no_strike' : null;
}

/** Share of the window, 0..1, in which the book was proven and in no gap. */
export function coverageOf({ market, inside }: Pick<PreparedMarket, 'market' | 'inside'>): number {
  return inside.coveredMs / (market.endTimeMs - market.startTimeMs);
}

function strikeKnown({ strikePrice, strikeKnownTimeMs }: PreparedMarket['market']): boolean {
  return strikePrice !== null && strikeKnownTimeMs !== null;
}

function skipReason(
  { ladders, inside, missingBooks }: PreparedMarket,
  { strategy, params }: SessionTerms,
  resolution: Resolution | null,
): SkipReason | null {
  if (resolution === null) return 'unresolved';
  const needsBooks = params.fill_mode === 'walk_book' || strategy.needs.books;
  if (ladders === null && needsBooks) return 'no_books';
  if (inside.rows === 0) return 'no_data';
  if (missingBooks === 'none' && needsBooks) return 'no_books';
  return inside.trusted === 0 || (missingBooks === 'late' && needsBooks) ? 'gap' : null;
}
