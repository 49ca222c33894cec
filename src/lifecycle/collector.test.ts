import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { VENUES_OFF } from '../../test/support/venuesOff.ts';
import { loadConfig } from '../config.ts';
import { Recorder } from '../recorder/recorder.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { Collector } from './collector.ts';

const NOW_MS = 1_795_176_010_000;

test('the recorder knows up to which receive time frames have been delivered to it', () => {
  const common = { clock: new FakeClock(NOW_MS), log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink: new MemorySink(), timeBy: 'clock' });
  const sockets = { lagMs: 0 };
  const { venues, tickers } = loadConfig(VENUES_OFF);
  new Collector({
    ...common,
    ...{ venues, tickers, credentials: null, recorder, random: () => 0.5 },
    sockets: sockets as never,
  });
  expect(recorder.deliveredToMs()).toBe(NOW_MS);
  sockets.lagMs = 9_600;
  expect(recorder.deliveredToMs()).toBe(NOW_MS - 9_600);
});
