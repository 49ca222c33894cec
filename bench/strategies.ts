/**
 * The processor time of strategies of one's own against the built-in loop: the same strategy, the same tapes, in one
 * run. The built-in loop prepares the rows of a tape and steps a session over each of them.
 */

import { Ledger } from '../src/core/ledger.ts';
import { itemsOf } from '../src/core/run/itemsOf.ts';
import { startRun } from '../src/core/run/startRun.ts';
import { prepareMarket } from '../src/core/session/prepare.ts';
import { MarketSession } from '../src/core/session/session.ts';
import type { MarketTape } from '../src/core/session/tape.ts';
import { compileStrategy } from '../src/core/strategies/compile.ts';
import type { ReplayParams, Strategy } from '../src/schema/strategy.ts';
import { REWRITTEN, rewritten } from '../test/strategies/rewritten.ts';
import { END_MS, randomTape } from '../test/support/tapes.ts';
import type { Figure } from './figure.ts';
import { median } from './quantile.ts';

const TAPES = 4;
/** Rounds that are not counted: in the first ones much of the code is not compiled yet. */
const WARM_UP_ROUNDS = 15;
const ROUNDS = 15;
const SHAPE = { books: 4_000, levels: 8 };
const PARAMS: ReplayParams = {
  fill_mode: 'walk_book',
  latency_ms: 50,
  max_fill_price: 0.985,
  max_slippage: 0.02,
};
const RESOLUTION = { payoutYes: 1, resolvedTimeMs: END_MS + 60_000 };
const SIZE_USD = 25;

export async function run(): Promise<Figure[]> {
  const tapes = Array.from({ length: TAPES }, (_, n) => randomTape(`bench ${n}`, SHAPE));
  return REWRITTEN.map(([name, strategy]) => {
    const ratios: number[] = [];
    for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round++) {
      const builtIn = processorTime(() => tapes.map((tape) => runBuiltIn(tape, strategy)));
      const own = processorTime(() => tapes.map((tape) => runOwn(tape, strategy)));
      if (round >= WARM_UP_ROUNDS) ratios.push(own / builtIn);
    }
    return {
      name: `${name}: own code / built-in loop`,
      value: median(ratios),
      unit: 'x',
      goal: '<= 3',
      better: 'less',
    };
  });
}

function runBuiltIn(tape: MarketTape, json: Strategy): number {
  const strategy = compileStrategy(json);
  const prepared = prepareMarket(tape, strategy.needs);
  const { market, rows, ladders, rules } = prepared;
  const terms = { strategy, size: SIZE_USD * 1_000_000, params: PARAMS };
  const session = new MarketSession({ market, rows, ladders, rules }, { terms, ledger: new Ledger() });
  for (let row = 0; row < rows.count; row++) session.step(row);
  session.settle(RESOLUTION);
  return session.trades().length;
}

function runOwn(tape: MarketTape, strategy: Strategy): number {
  const runner = startRun(rewritten(strategy, { sizeUsd: SIZE_USD, params: PARAMS }));
  const { model } = compileStrategy(strategy).needs;
  const read = model ? tape : { ...tape, prices: null };
  for (const item of itemsOf([{ tape: read, resolution: RESOLUTION }])) runner.push(item);
  return runner.result().trades.length;
}

function processorTime(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
