import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { marketOf, NOTHING_RECORDED } from '../../../test/support/paperRig.ts';
import { BEFORE_MS, BOUGHT, BUYS, liveStrategyOf, RESOLVED } from '../../../test/support/traderRig.ts';
import { Bus } from '../../bus/bus.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { PaperRunner } from './runner.ts';

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
