import { expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { DelayedSocketDriver } from '../../../../test/support/waitingSockets.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { ClobConnection } from './connection.ts';

test('the load of a connection falls to a third in ten seconds', async () => {
  const clock = new FakeClock();
  const sockets = new DelayedSocketDriver();
  const shared = { sockets, clock, random: () => 0, log: silentLogger, metrics: new Metrics() };
  const ignored = { onFrame: () => {}, onDown: () => {} };
  const connection = new ClobConnection({ url: 'ws://127.0.0.1:1', ...shared }, 'BTC 5m', new Set(), ignored);
  sockets.connections[0]?.onFrame('x'.repeat(1_000), clock.now(), 1_000);
  expect(connection.load.bytesPerSecond).toBe(100);
  await clock.advance(10_000);
  expect(connection.load.bytesPerSecond).toBeCloseTo(100 / Math.E, 9);
  await connection.close();
});
