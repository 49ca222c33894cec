import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemorySink } from '../../../test/support/memorySink.ts';
import { DelayedSocketDriver } from '../../../test/support/waitingSockets.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { Recorder } from '../recorder.ts';
import { WatchedClob } from './watchedClob.ts';

test.each([
  ['BTC-5m', 2],
  ['ETH-15m', 2],
  ['BTC-1h', 1],
  ['BTC-4h', 1],
  ['BTC-daily_up_down', 1],
])('the markets of %s have connections: %i', async (group, count) => {
  const clock = new FakeClock();
  const common = { clock, log: silentLogger, metrics: new Metrics(), random: () => 0 };
  const recorder = new Recorder({ ...common, sink: new MemorySink(), timeBy: 'clock' });
  const sockets = new DelayedSocketDriver();
  const clob = new WatchedClob({ ...common, recorder, sockets, rest: null, wsUrl: 'ws://venue' });
  clob.subscribe(group, ['1', '2']);
  expect(sockets.connections).toHaveLength(count);
  await clob.close();
  recorder.close();
});
