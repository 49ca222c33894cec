import { expect, onTestFinished, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { HttpRefusedError, VenueHttpError } from '../../venues/http.ts';
import { VenueRestart } from './venueRestart.ts';

const RESTARTING = () => new HttpRefusedError('425', { status: 425, excerpt: '', retryAfterMs: null });
const POST_ONLY = () => new VenueHttpError('503', { status: 503, excerpt: '{"code":"post_only_mode"}' });

function setUp() {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const asked: number[] = [];
  const signs: number[] = [];
  const venue = { fail: null as (() => Error) | null, isLost: true };
  const restart = new VenueRestart({
    ...{ clock, metrics, log: silentLogger, isLost: () => venue.isLost },
    rest: {
      books: async () => {
        asked.push(clock.monotonic());
        if (venue.fail !== null) throw venue.fail();
        return [];
      },
    },
    onSign: (sinceMs) => void signs.push(clock.now() - sinceMs),
  });
  onTestFinished(() => restart.stop());
  const restarts = async () =>
    (await metrics.registry.getSingleMetricAsString('underround_venue_restarts_total')).split(' ').at(-1);
  return { clock, asked, signs, venue, restart, restarts };
}

test('a lost connection is followed by requests until the feed is back', async () => {
  const { clock, asked, venue, restart, signs } = setUp();
  restart.onDisconnect('1');
  restart.onDisconnect('2');
  await clock.advance(12_000);
  expect(asked).toEqual([0, 5_000, 10_000]);
  venue.isLost = false;
  await clock.advance(60_000);
  expect(asked).toHaveLength(3);
  expect([restart.isAt(clock.now()), signs]).toEqual([false, []]);
});

test('requests end after two minutes, and start again with the next loss', async () => {
  const { clock, asked, restart } = setUp();
  restart.onDisconnect('1');
  await clock.advance(600_000);
  expect(asked).toHaveLength(24);
  restart.onDisconnect('1');
  await clock.advance(1_000);
  expect(asked).toHaveLength(25);
});

test('425 is the sign of a restart, which includes the connections lost shortly before', async () => {
  const { clock, venue, restart, signs, restarts } = setUp();
  venue.fail = RESTARTING;
  restart.onDisconnect('1');
  await clock.advance(11_000);
  expect(signs).toEqual([30_000, 35_000, 40_000]);
  expect(await restarts()).toBe('1');
  venue.fail = null;
  // Post-only for two minutes after the last sign.
  await clock.advance(119_000);
  expect(restart.isAt(clock.now())).toBe(true);
  await clock.advance(1_001);
  expect(restart.isAt(clock.now())).toBe(false);
});

test('the post-only restriction is a sign too, in any request', async () => {
  const { clock, restart, signs, restarts } = setUp();
  restart.onFailure(POST_ONLY());
  expect([restart.isAt(clock.now()), signs]).toEqual([true, [30_000]]);
  await clock.advance(300_000);
  restart.onFailure(RESTARTING());
  expect(await restarts()).toBe('2');
});

test.each([
  ['another server error', new VenueHttpError('503', { status: 503, excerpt: 'upstream' })],
  ['post-only in another answer', new VenueHttpError('500', { status: 500, excerpt: 'post_only_mode' })],
  ['a refusal', new HttpRefusedError('403', { status: 403, excerpt: '425', retryAfterMs: null })],
  ['an error of another kind', new Error('425')],
])('%s is no sign', (_shows, error) => {
  const { clock, restart, signs } = setUp();
  restart.onFailure(error);
  expect([restart.isAt(clock.now()), signs]).toEqual([false, []]);
});
