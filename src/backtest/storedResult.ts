/**
 * Reads the stored result of a backtest in parts: its curve and its trades may be tens of megabytes, and parsing them at
 * once would delay all other requests.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BacktestResultBody, BacktestTradeBody } from '../schema/api/backtests.ts';

/** The member before which a backtest's result has all its figures. */
const FIGURES_END = ',"equity_curve":';
const TRADES = '"trades":[';
/** Trades parsed before other work may run: a few milliseconds. */
const TRADES_A_TURN = 500;

export type BacktestFigures = Omit<BacktestResultBody, 'equity_curve' | 'trades' | 'receipt'>;

/** @param result JSON as stored. */
export function storedFigures(result: string): BacktestFigures {
  const end = result.indexOf(FIGURES_END);
  return JSON.parse(end < 0 ? result : `${result.slice(0, end)}}`) as BacktestFigures;
}

/** @param result JSON as stored. */
export async function* storedTrades(result: string): AsyncGenerator<BacktestTradeBody> {
  const begin = result.indexOf(TRADES);
  if (begin < 0) return;
  let parsed = 0;
  for (let at = begin + TRADES.length; result[at] !== ']'; ) {
    if (result[at] === ',') at++;
    // A trade contains no object, and none of its texts a brace: they are ids, times and names.
    const end = result.indexOf('}', at) + 1;
    yield JSON.parse(result.slice(at, end)) as BacktestTradeBody;
    at = end;
    if (++parsed % TRADES_A_TURN === 0) await nextTurn();
  }
}
