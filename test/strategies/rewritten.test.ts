/** A strategy of one's own gets exactly the trades that a JSON strategy gets: the two use one desk and the same rows. */
import { describe, expect, test } from 'vitest';
import { itemsOf } from '../../src/core/run/itemsOf.ts';
import type { RunResult } from '../../src/core/run/result.ts';
import { startRun } from '../../src/core/run/startRun.ts';
import { prepareMarket } from '../../src/core/session/prepare.ts';
import { coverageOf, replayMarket } from '../../src/core/session/replay.ts';
import type { MarketTape, Resolution } from '../../src/core/session/tape.ts';
import { compileStrategy } from '../../src/core/strategies/compile.ts';
import type { ReplayParams, Strategy } from '../../src/schema/strategy.ts';
import { withLateGaps } from '../support/lateGaps.ts';
import { withNoApart, withPricesBeside } from '../support/oddTapes.ts';
import { END_MS, randomTape } from '../support/tapes.ts';
import { REWRITTEN, rewritten } from './rewritten.ts';

const RESOLUTIONS: readonly Resolution[] = [1, 0, null].map((payoutYes, at) => ({
  payoutYes,
  resolvedTimeMs: END_MS + 90_000 + at,
}));
const PARAMS: readonly ReplayParams[] = [
  { fill_mode: 'walk_book', latency_ms: 50, max_fill_price: 0.985, max_slippage: 0.02 },
  { fill_mode: 'walk_book', latency_ms: 1_300, max_fill_price: 0.7, max_slippage: null },
];
const TAPES = 10;
const SIZE_USD = 25;

function runOf(
  tape: MarketTape,
  strategy: Strategy,
  params: ReplayParams,
  resolution: Resolution,
): RunResult {
  const runner = startRun(rewritten(strategy, { sizeUsd: SIZE_USD, params }));
  const { model } = compileStrategy(strategy).needs;
  // Like a loader: the prices are read only for the model.
  const read = model ? tape : { ...tape, prices: null };
  for (const item of itemsOf([{ tape: read, resolution }])) runner.push(item);
  return runner.result();
}

function tapesOf(seed: string): [string, MarketTape][] {
  const shape = { books: 400, levels: 4 };
  const plain = randomTape(seed, shape);
  return [
    ['early gaps', plain],
    ['late gaps', withLateGaps(randomTape(seed, { ...shape, gaps: false }), seed)],
    ['prices beside quotes', withPricesBeside(plain)],
    ['no prices', { ...withPricesBeside(plain), prices: null }],
    ['NO apart', withNoApart(plain, randomTape(`${seed} no`, shape))],
  ];
}

describe.each(REWRITTEN)('%s', (_, strategy) => {
  test('has byte-equal trades', () => {
    let traded = 0;
    for (let n = 0; n < TAPES; n++) {
      for (const [name, tape] of tapesOf(`rewritten ${n}`)) {
        for (const [at, params] of PARAMS.entries()) {
          const resolution = RESOLUTIONS[(n + at) % RESOLUTIONS.length]!;
          const compiled = compileStrategy(strategy);
          const prepared = prepareMarket(tape, compiled.needs);
          const terms = { strategy: compiled, size: SIZE_USD * 1_000_000, params };
          const built = replayMarket(prepared, terms, { resolution });
          const own = runOf(tape, strategy, params, resolution);
          const trades = own.trades.map(
            ({ marketId: _m, ticker: _t, eventType: _e, atEntry: _a, liquidity: _l, ...trade }) => trade,
          );
          const where = `tape ${n}, ${name}, parameters ${at}`;
          expect(JSON.stringify(trades), where).toBe(JSON.stringify(built.trades));
          expect(own.markets[0], where).toMatchObject({ skipped: built.skipped });
          expect(own.markets[0]?.coverage, where).toBeCloseTo(coverageOf(prepared), 9);
          traded += trades.length;
        }
      }
    }
    expect(traded).toBeGreaterThan(TAPES);
  });
});
