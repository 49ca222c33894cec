import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemorySink } from '../../../test/support/memorySink.ts';
import { DelayedSocketDriver } from '../../../test/support/waitingSockets.ts';
import { MARKET, WireMarket } from '../../../test/support/wire.ts';
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

test.each([
  ['once they are', 3_000, []],
  ['not at all after 5 s', 60_000, ['received frames still wait to be recorded']],
])(
  'an answer about books waits until the frames received before it are recorded: it is used %s',
  async (_, behindForMs, refused) => {
    const clock = new FakeClock(MARKET.startTimeMs);
    const failures: string[] = [];
    const log = {
      ...silentLogger,
      warn: ({ reason }: { reason: string }) => void failures.push(reason),
    } as never;
    const common = { clock, log, metrics: new Metrics(), random: () => 0 };
    const recorder = new Recorder({ ...common, sink: new MemorySink(), timeBy: 'clock' });
    const sockets = new DelayedSocketDriver();
    const wire = new WireMarket();
    wire.set({ side: 'BUY', price: 4_900, size: 1_000_000 });
    recorder.track(MARKET);
    recorder.clobFrame(wire.snapshot(clock.now()), clock.now());
    const askedAt: number[] = [];
    const rest = {
      books: async () => {
        askedAt.push(clock.monotonic());
        sockets.isBehind = true;
        return [];
      },
    };
    const clob = new WatchedClob({ ...common, recorder, sockets, rest, wsUrl: 'ws://venue' });
    clob.subscribe('BTC-1h', [MARKET.yesTokenId, MARKET.noTokenId]);
    while (askedAt.length === 0) await clock.advance(100);
    await clock.advance(behindForMs);
    sockets.isBehind = false;
    await clock.advance(100);
    expect(failures).toEqual(refused);
    await clob.close();
    recorder.close();
  },
);
