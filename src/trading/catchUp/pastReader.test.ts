import { expect, onTestFinished, test } from 'vitest';
import { RESOLVED_UP, TradedMarket } from '../../../test/paper/tradedMarket.ts';
import { oneClock } from '../../../test/support/gaps.ts';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { END_MS, randomTape } from '../../../test/support/tapes.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { TooMuchDataError } from '../../runtime/errors.ts';
import { type Logger, silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';

async function begin(seed: string) {
  const db = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => db.destroy());
  return new TradedMarket(db, randomTape(seed, { books: 1_200, levels: 6, gaps: false }));
}

test('a market too large to be read is abandoned at once, is logged, and keeps its positions unchanged', async () => {
  const traded = await begin('large');
  await traded.begin();
  await traded.strategy('holder', STRATEGIES.time_before_resolution!);
  traded.publishTo(0.7);
  await traded.end();
  const held = await traded.positions();
  expect(held.map(({ closed_ms }) => closed_ms)).toEqual([null]);

  const metrics = new Metrics();
  const lines: unknown[] = [];
  const log = { ...silentLogger, error: (...line: unknown[]) => void lines.push(line) } as unknown as Logger;
  let reads = 0;
  const stretch = () => {
    reads++;
    return Promise.reject(new TooMuchDataError('more than 20000000 levels'));
  };
  await traded.begin({ stretch }, { log, metrics });
  await traded.rig.trading.settled();
  traded.publishTo(1);
  traded.correct({ tickSize: 10 });
  traded.correct(RESOLVED_UP);
  traded.clock.nowMs = END_MS + 600_000;
  await traded.end();
  expect(lines).toEqual([[{ marketId: '0xtape' }, 'paper.market_given_up']]);
  expect(reads).toBe(1);
  const count = await metrics.registry.getSingleMetricAsString('underround_paper_markets_given_up_total');
  expect(count).toContain('underround_paper_markets_given_up_total 1');
  expect(await traded.positions()).toEqual(held);

  // The next start tries again.
  await traded.begin();
  await traded.end();
  expect((await traded.positions()).map(({ exit_reason }) => exit_reason)).toEqual(['resolved']);
});

test('records published while the past is read are read too if the buffer overflows', async () => {
  const [alone, flooded] = [await begin('flood'), await begin('flood')];
  const strategy = STRATEGIES['condition_based on the book']!;
  for (const traded of [alone, flooded]) {
    await traded.begin();
    await traded.strategy('dealer', strategy);
    traded.publishTo(0.4);
    await traded.end();
  }
  let reads = 0;
  const { marketId } = flooded.market;
  await flooded.begin({
    stretch: async (_market, { afterSeq }) => {
      const read = flooded.recorded(afterSeq);
      if (reads++ > 0) return read;
      // Recorded after what was read, and more than a buffer holds.
      flooded.publishTo(0.6);
      const gap = { gapId: 'gap', marketId, startTimeMs: 1, endTimeMs: 2, cause: 'silent_feed' } as const;
      const told = { ...gap, feed: 'polymarket.clob', repairedBy: null, knownTimeMs: 1, knownSeq: 1 };
      for (let n = 0; n < 50_000; n++) flooded.rig.bus.publish('gap', oneClock({ ...told, seq: n }));
      return read;
    },
  });
  await flooded.rig.trading.settled();
  expect(reads).toBe(2);
  await alone.begin();
  await alone.rig.trading.settled();
  for (const traded of [alone, flooded]) {
    traded.publishTo(1);
    traded.correct(RESOLVED_UP);
    await traded.end();
  }
  const [dealt, others] = [await flooded.positions(), await alone.positions()];
  expect(dealt.length).toBeGreaterThan(1);
  const names = { position_id: expect.any(String), paper_strategy_id: expect.any(String) };
  expect(dealt).toEqual(others.map((row) => ({ ...row, ...names })));
});
