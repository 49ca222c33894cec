import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { oneClock } from '../../../test/support/gaps.ts';
import { marketOf, NOTHING_RECORDED, recordedEventsOf } from '../../../test/support/paperRig.ts';
import { START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import { BEFORE_MS, BOUGHT, BUYS, liveStrategyOf, RESOLVED } from '../../../test/support/traderRig.ts';
import { Bus } from '../../bus/bus.ts';
import { TAPE_AFTER_MS } from '../../core/session/tape.ts';
import { compileStrategy } from '../../core/strategies/compile.ts';
import { type Logger, silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { Recording } from '../catchUp/recording.ts';
import type { LiveStrategy } from '../live/paperSession.ts';
import { PaperRunner } from './runner.ts';

/** A runner of one strategy, and what it gave to the writer. */
function running(strategy: LiveStrategy, recording: Partial<Recording> = {}) {
  const clock = new FakeClock(BEFORE_MS);
  const [changed, lines]: [unknown[], unknown[]] = [[], []];
  const writer = {
    ...{ changed: (state: unknown) => void changed.push(state) },
    ...{ termsChanged: () => undefined, resolutionMoved: () => undefined },
  };
  const log = { ...silentLogger, error: (...line: unknown[]) => void lines.push(line) } as unknown as Logger;
  const metrics = new Metrics();
  const runner = new PaperRunner({
    ...{ clock, log, metrics, recording: { ...NOTHING_RECORDED, ...recording }, writer },
    ...{ markets: () => [], sessionsOf: async () => [], termsOf: async () => [] },
  });
  runner.add(strategy);
  return { clock, runner, changed, lines, metrics, bus: new Bus({ log: silentLogger, metrics }) };
}

test('while it closes nothing published is traded, though a market is still being read', async () => {
  let answer: (market: null) => void = () => undefined;
  const read = new Promise<null>((resolve) => {
    answer = resolve;
  });
  const { clock, runner, changed, bus } = running(liveStrategyOf('ps_1', BUYS), { market: () => read });
  runner.start(bus, { held: ['0xheld'] });
  bus.publish('market', { ...marketOf(BOUGHT), seq: 0 });
  const closed = runner.close();
  for (const { publish } of recordedEventsOf(BOUGHT)) publish(bus);
  expect([changed, clock.waiting]).toEqual([[], 0]);
  answer(null);
  await closed;
});

test('the store is asked every 30 s for the resolution of an ended market with fills', async () => {
  const { endTimeMs } = marketOf(BOUGHT);
  const asked: [string, number][] = [];
  const market: Recording['market'] = async (marketId) => {
    asked.push([marketId, clock.now() - endTimeMs - TAPE_AFTER_MS]);
    return null;
  };
  const { clock, runner, bus } = running(liveStrategyOf('ps_1', BUYS), { market });
  runner.start(bus, { held: [] });
  bus.publish('market', { ...marketOf(BOUGHT), seq: 0 });
  await runner.settled();
  for (const { publish } of recordedEventsOf(BOUGHT)) publish(bus);
  await clock.advance(endTimeMs + TAPE_AFTER_MS + 59_999 - clock.now());
  expect(asked).toEqual([
    ['0xtape', 0],
    ['0xtape', 30_000],
  ]);
  await runner.close();
});

test('a session that fails is counted and logged', async () => {
  const error = new Error('a fault of the strategy');
  const compiled = compileStrategy(BUYS);
  const start: typeof compiled.start = () => ({
    decide: () => {
      throw error;
    },
  });
  const { runner, lines, metrics, bus } = running(
    liveStrategyOf('ps_1', BUYS, { compiled: { ...compiled, start } }),
  );
  runner.start(bus, { held: [] });
  bus.publish('market', { ...marketOf(BOUGHT), seq: 0 });
  for (const { publish } of recordedEventsOf(BOUGHT)) publish(bus);
  const at = { marketId: '0xtape', strategyId: 'ps_1' };
  expect(lines).toEqual([[{ err: error, ...at }, 'paper.session_failed']]);
  const name = 'underround_paper_session_failures_total';
  expect(await metrics.registry.getSingleMetricAsString(name)).toContain(`${name} 1`);
  await runner.close();
});

test('a published gap delays the decisions after it', async () => {
  const { runner, changed, bus } = running(liveStrategyOf('ps_1', BUYS));
  runner.start(bus, { held: [] });
  bus.publish('market', { ...marketOf(BOUGHT), seq: 0 });
  const ids = { gapId: 'gap', marketId: '0xtape', feed: 'polymarket.clob', repairedBy: null, knownSeq: 1 };
  const known = { startTimeMs: START_MS + 500, endTimeMs: START_MS + 900, knownTimeMs: START_MS + 1_100 };
  bus.publish('gap', oneClock({ ...ids, ...known, cause: 'silent_feed', seq: 1 }));
  for (const { publish } of recordedEventsOf(BOUGHT)) publish(bus);
  expect(changed).toMatchObject([{ trades: [{ decidedMs: START_MS + 1_100 }] }]);
  await runner.close();
});

test('a published quote is decided on without a further book', async () => {
  const { runner, changed, bus } = running(liveStrategyOf('ps_1', BUYS));
  const tape = new TapeWriter()
    .book({ at: 1_000, bids: [[0.5, 100]], asks: [[0.51, 100]] })
    .quote({ at: 1_500, bid: 4_800, ask: 4_900, trusted: true })
    .book({ at: 2_000, bids: [[0.48, 101]], asks: [[0.49, 101]] })
    .book({ at: 3_000, bids: [[0.48, 102]], asks: [[0.49, 102]] })
    .tape();
  runner.start(bus, { held: [] });
  bus.publish('market', { ...marketOf(tape), seq: 0 });
  for (const { publish } of recordedEventsOf(tape)) publish(bus);
  expect(changed).toMatchObject([{ trades: [{ decidedMs: START_MS + 1_500 }] }]);
  await runner.close();
});

test('after it was closed nothing published is traded, and no timer waits', async () => {
  const clock = new FakeClock(BEFORE_MS);
  const changed: unknown[] = [];
  const writer = {
    ...{ changed: (state: unknown) => void changed.push(state) },
    ...{ termsChanged: (version: unknown) => void changed.push(version), resolutionMoved: () => undefined },
  };
  const runner = new PaperRunner({
    ...{ clock, log: silentLogger, metrics: new Metrics(), recording: NOTHING_RECORDED, writer },
    ...{ markets: () => [], sessionsOf: async () => [], termsOf: async () => [] },
  });
  const bus = new Bus({ log: silentLogger, metrics: new Metrics() });
  runner.add(liveStrategyOf('ps_1', BUYS));
  runner.start(bus, { held: [] });
  bus.publish('market', { ...marketOf(BOUGHT), seq: 0 });
  await runner.settled();
  const before = changed.length;
  expect([before, clock.waiting]).toEqual([1, 1]);
  await runner.close();
  bus.publish('market', { ...marketOf(BOUGHT, { ...RESOLVED, takerFeeRate: 0.01 }), seq: 1 });
  await clock.advance(60_000);
  expect([changed.length, clock.waiting]).toEqual([before, 0]);
});
