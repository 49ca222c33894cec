import { inspect } from 'node:util';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CountingSocketDriver } from '../../../../test/support/countingSockets.ts';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { LocalVenue, until } from '../../../../test/support/localVenue.ts';
import type { Logger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { Secret } from '../../../runtime/secret.ts';
import { PolyboltFeed } from './feed.ts';

const TEXTS = ['canary-key-4f1', 'canary-secret-9a2', 'canary-passphrase-7c3'] as const;
const [KEY, SECRET, PASSPHRASE] = TEXTS;

let venue: LocalVenue;
let clock: FakeClock;
let metrics: Metrics;
let feed: PolyboltFeed;
let frames: string[];
let logged: string;
let sockets: CountingSocketDriver;

beforeEach(async () => {
  venue = await LocalVenue.start();
  clock = new FakeClock();
  metrics = new Metrics();
  frames = [];
  logged = '';
  sockets = new CountingSocketDriver(clock);
  const write = (line: string) => {
    logged += line;
  };
  const log: Logger = pino({ level: 'trace' }, { write });
  feed = new PolyboltFeed({
    url: venue.wsUrl,
    tickers: ['BTC', 'SOL'],
    credentials: {
      ...{ apiKey: new Secret(KEY), secret: new Secret(SECRET), passphrase: new Secret(PASSPHRASE) },
    },
    ...{ sockets, clock, log, metrics },
    random: () => 0.5,
    onFrame: (frame) => frames.push(frame),
  });
});
afterEach(async () => {
  await feed.close();
  await venue.stop();
});

interface Sent {
  op: string;
  rid: string;
  channel?: string;
  filter?: { symbol: string; window_seconds?: number };
  auth?: object;
}

const received = (): Sent[] => venue.latest.received.map((text) => JSON.parse(text));
const connected = (times: number) =>
  until(() => venue.connections.length === times && venue.latest.received.length >= 1);
const say = (frame: object) => venue.latest.socket.send(JSON.stringify(frame));
const metric = async (name: string) =>
  (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith(`${name}{`));
const logLine = (message: string) =>
  logged
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
    .find(({ msg }) => msg === message);
let seen = 0;
/** Sends a frame and waits until the feed has passed it on. */
async function heard(frame: object): Promise<void> {
  const before = frames.length;
  say({ ...frame, n: ++seen });
  await until(() => frames.length > before);
}
/** Accepts the credentials and every subscription, one command at a time. */
async function subscribed(times = 1): Promise<void> {
  await connected(times);
  await heard({ op: 'authed', rid: received()[0]!.rid });
  await clock.advance(110);
  for (let sent = 2; sent <= 5; sent++) {
    await until(() => venue.latest.received.length === sent);
    await heard({ op: 'subscribed', channel: received()[sent - 1]!.channel, rid: received()[sent - 1]!.rid });
    await clock.advance(110);
  }
}
const point = (seq: number, more: object = {}) => ({
  ...{ v: 1, channel: 'price.crypto.twap', seq, ts: 1000, ...more },
  payload: { symbol: 'btcusd', timestamp: 1000, value: 1, window_seconds: 60 },
});

describe('the commands', () => {
  test('are the credentials, then one subscription a frame, each with its own id, 110 ms apart', async () => {
    await connected(1);
    const [auth] = received();
    expect(auth).toEqual({
      ...{ op: 'auth', rid: auth!.rid },
      auth: { apiKey: KEY, secret: SECRET, passphrase: PASSPHRASE },
    });
    await clock.advance(5_000);
    // Nothing is subscribed before the venue has accepted the credentials.
    expect(received()).toHaveLength(1);
    await heard({ op: 'authed', rid: auth!.rid });
    for (let count = 2; count <= 5; count++) {
      await until(() => venue.latest.received.length === count);
      await clock.advance(109);
      expect(received()).toHaveLength(count);
      await clock.advance(1);
    }
    const subscriptions = received().slice(1);
    expect(subscriptions.map(({ op, channel, filter }) => [op, channel, filter])).toEqual([
      ['subscribe', 'price.crypto.twap', { symbol: 'btcusd', window_seconds: 60 }],
      ['subscribe', 'price.crypto.twap', { symbol: 'solusd', window_seconds: 60 }],
      ['subscribe', 'price.crypto', { symbol: 'btcusd' }],
      ['subscribe', 'price.crypto', { symbol: 'solusd' }],
    ]);
    expect(new Set(received().map(({ rid }) => rid)).size).toBe(5);
    expect(feed.state).toBe('subscribed');
  });

  test('a refused symbol does not stop the others, and is not renewed', async () => {
    await connected(1);
    await heard({ op: 'authed', rid: received()[0]!.rid });
    await clock.advance(110);
    await until(() => venue.latest.received.length === 2);
    const [, btc] = received();
    await heard({ op: 'error', code: 'bad_filter', channel: btc!.channel, rid: btc!.rid });
    for (let count = 3; count <= 5; count++) {
      await clock.advance(110);
      await until(() => venue.latest.received.length === count);
      await heard({ op: 'subscribed', rid: received()[count - 1]!.rid });
    }
    expect(logLine('polybolt.subscription_refused')).toMatchObject({
      ...{ code: 'bad_filter', command: 'subscribe' },
      ...{ channel: 'price.crypto.twap', symbol: 'btcusd' },
    });
    expect(await metric('underround_polybolt_errors_total')).toEqual([
      'underround_polybolt_errors_total{code="bad_filter"} 1',
    ]);
    await heard(point(1));
    await heard(point(3));
    await clock.advance(110);
    await until(() => venue.latest.received.length === 6);
    await clock.advance(110);
    await until(() => venue.latest.received.length === 7);
    expect(
      received()
        .slice(5)
        .map(({ op, filter }) => [op, filter?.symbol]),
    ).toEqual([
      ['unsubscribe', 'solusd'],
      ['subscribe', 'solusd'],
    ]);
  });

  test('a command without an answer for 10 s ends the connection', async () => {
    await connected(1);
    await clock.advance(9_999);
    expect(venue.latest.closed).toBe(false);
    await clock.advance(1);
    await until(() => venue.latest.closed);
    expect(logged).toContain('auth unanswered');
    await clock.advance(500);
    await connected(2);
  });

  test('left unanswered at the end of a connection do not end the next one', async () => {
    await connected(1);
    await heard({ op: 'authed', rid: received()[0]!.rid });
    await clock.advance(110);
    await until(() => venue.latest.received.length === 2);
    venue.latest.socket.close(4002);
    await until(() => feed.state === 'connecting');
    await clock.advance(375);
    await subscribed(2);
    await clock.advance(10_000);
    expect(logged).not.toContain('unanswered');
    expect(feed.state).toBe('subscribed');
  });

  test('are named by one answer only', async () => {
    await subscribed();
    const { rid } = received()[1]!;
    await heard({ op: 'error', code: 'bad_op', rid });
    expect(logged).not.toContain('polybolt.subscription_refused');
    expect(logged).toContain('polybolt.error');
  });

  test.each([
    ['its own id', 'bad_op', true],
    ['no id', 'auth_required', false],
    ['no id, as the verifier is down', 'auth_unavailable', false],
  ])('end the connection if the credentials are refused with %s', async (_with, code, hasId) => {
    await connected(1);
    say({ op: 'error', code, ...(hasId ? { rid: received()[0]!.rid } : {}) });
    await until(() => venue.latest.closed);
    expect(logged).toContain('polybolt.not_authenticated');
    await clock.advance(375);
    await connected(2);
  });
});

describe('lost frames', () => {
  test.each([
    ['a hole of two, which the venue also reports', 8, 2, 2],
    ['a hole of two, of which the venue reports one', 8, 1, 2],
    ['a repeated number', 5, undefined, 1],
    ['an earlier number', 4, undefined, 1],
  ])('%s: counted once', async (_shows, seq, dropped, lost) => {
    await subscribed();
    await heard(point(5));
    await heard(point(seq, { dropped }));
    const labels = 'feed="polymarket.polybolt",channel="price.crypto.twap"';
    expect(await metric('underround_price_feed_lost_frames_total')).toEqual([
      `underround_price_feed_lost_frames_total{${labels}} ${lost}`,
    ]);
    expect(logLine('price_feed.frames_lost')).toMatchObject({
      ...{ channel: 'price.crypto.twap', frames: lost, isRenewed: true },
    });
  });

  test('renew a channel again after 30 s, and at once on a new connection, whose numbers begin anywhere', async () => {
    const renewals = () => received().filter(({ op }) => op === 'unsubscribe').length;
    const answerAll = async (count: number) => {
      for (let sent = 5; renewals() < count || sent < received().length; ) {
        await until(() => venue.latest.received.length > sent);
        for (; sent < received().length; sent++)
          await heard({ op: 'subscribed', rid: received()[sent]!.rid });
        await clock.advance(110);
      }
    };
    await subscribed();
    await heard(point(1));
    await heard(point(3));
    await answerAll(2);
    // Two symbols take four commands.
    await clock.advance(19_000);
    await heard(point(4));
    await clock.advance(30_000 - 19_000 - 4 * 110 - 1);
    await heard(point(6));
    await clock.advance(0);
    expect(renewals()).toBe(2);
    await clock.advance(1);
    await heard(point(8));
    await answerAll(4);
    expect(renewals()).toBe(4);
    await heard(point(9));
    const lost = () => metric('underround_price_feed_gaps_total');
    const before = await lost();
    venue.latest.socket.close(4002);
    await until(() => feed.state === 'connecting');
    await clock.advance(375);
    await subscribed(2);
    await heard(point(2));
    expect(await lost()).toEqual(before);
    await heard(point(4));
    await answerAll(2);
    expect(renewals()).toBe(2);
  });

  test('a hole and a report of the venue are counted, and the channel is renewed at most every 30 s', async () => {
    await subscribed();
    const sent = venue.latest.received.length;
    await heard(point(1, { snapshot: true }));
    await heard(point(2));
    // Numbers count by channel.
    await heard({ ...point(7), channel: 'price.crypto' });
    expect(await metric('underround_price_feed_gaps_total')).toEqual([]);
    await heard(point(5));
    await heard(point(5 + 40, { dropped: 2 }));
    const labels = 'feed="polymarket.polybolt",channel="price.crypto.twap"';
    expect(await metric('underround_price_feed_gaps_total')).toEqual([
      `underround_price_feed_gaps_total{${labels}} 2`,
    ]);
    // Two missing numbers; then the first number after the renewal is accepted, with two reported frames.
    expect(await metric('underround_price_feed_lost_frames_total')).toEqual([
      `underround_price_feed_lost_frames_total{${labels}} 4`,
    ]);
    for (let count = sent + 1; count <= sent + 4; count++) {
      await until(() => venue.latest.received.length === count);
      await heard({ op: 'subscribed', rid: received()[count - 1]!.rid });
      await clock.advance(110);
    }
    const renewals = received().slice(sent);
    expect(renewals.map(({ op, filter }) => `${op} ${filter?.symbol}`)).toEqual([
      'unsubscribe btcusd',
      'subscribe btcusd',
      'unsubscribe solusd',
      'subscribe solusd',
    ]);
    expect(new Set(renewals.map(({ channel }) => channel))).toEqual(new Set(['price.crypto.twap']));
    await heard(point(99));
    // A number that goes back is one lost frame; the next ones follow it.
    for (const seq of [3, 4, 5]) await heard(point(seq));
    expect(await metric('underround_price_feed_gaps_total')).toEqual([
      `underround_price_feed_gaps_total{${labels}} 4`,
    ]);
    await clock.advance(1_000);
    expect(venue.latest.received).toHaveLength(sent + 4);
  });
});

test('spot prices that are not Chainlink’s are counted by origin, and logged once a connection', async () => {
  await subscribed();
  const spot = (seq: number, source?: string) => ({
    ...{ v: 1, channel: 'price.crypto', seq, ts: 1000 },
    payload: { symbol: 'btcusd', timestamp: 1000, value: 1, source },
  });
  await heard(spot(1, 'chainlink'));
  // The averages have no origin.
  await heard(point(1));
  expect(await metric('underround_price_feed_unused_total')).toEqual([]);
  await heard(spot(2));
  await heard(spot(3, 'pyth'));
  await heard(spot(4, 'pyth'));
  const labels = (source: string) => `feed="polymarket.polybolt",source="${source}"`;
  expect(await metric('underround_price_feed_unused_total')).toEqual([
    `underround_price_feed_unused_total{${labels('none')}} 1`,
    `underround_price_feed_unused_total{${labels('pyth')}} 2`,
  ]);
  expect(logged.split('price_feed.origin_not_used')).toHaveLength(2);
  venue.latest.socket.close(4002);
  await until(() => feed.state === 'connecting');
  await clock.advance(375);
  await subscribed(2);
  await heard(spot(1));
  expect(logged.split('price_feed.origin_not_used')).toHaveLength(3);
});

test('spot prices of an unknown origin are counted together; the log has the beginning of its name', async () => {
  await subscribed();
  const origin = `oracle-${'x'.repeat(40)}`;
  for (const [seq, source] of [origin, 'another'].entries())
    await heard({ v: 1, channel: 'price.crypto', seq, ts: 1000, payload: { symbol: 'btcusd', source } });
  expect(await metric('underround_price_feed_unused_total')).toEqual([
    'underround_price_feed_unused_total{feed="polymarket.polybolt",source="other"} 2',
  ]);
  expect(logLine('price_feed.origin_not_used')).toMatchObject({ source: origin.slice(0, 40) });
});

describe('the end of a connection', () => {
  test.each([
    [4002, 375],
    [4003, 5_000],
    [4008, 45_000],
  ])('after close %i the next attempt is %i ms later', async (code, delayMs) => {
    await subscribed();
    venue.latest.socket.close(code, 'bye');
    await until(() => feed.state === 'connecting');
    await clock.advance(delayMs - 1);
    expect(sockets.attempts).toBe(1);
    await clock.advance(1);
    expect(sockets.attempts).toBe(2);
    await connected(2);
    // Everything is subscribed again.
    await subscribed(2);
  });

  test('after close 4001 there is no further attempt', async () => {
    await subscribed();
    venue.latest.socket.close(4001);
    await until(() => feed.state === 'refused');
    await clock.advance(3_600_000);
    expect(sockets.attempts).toBe(1);
    expect(logged).toContain('polybolt.refused');
  });

  test('silence for 20 s ends it', async () => {
    await subscribed();
    await clock.advance(20_000);
    await until(() => feed.state === 'connecting');
    expect(logged).toContain('no data for 20000 ms');
  });
});

describe('refused credentials', () => {
  test('are tried again once a minute for five minutes, then never, and the log says so', async () => {
    for (let attempt = 1; attempt <= 6; attempt++) {
      await connected(attempt);
      say({ op: 'error', code: 'auth_invalid', rid: received()[0]!.rid });
      await until(() => venue.latest.closed);
      expect(feed.state).toBe(attempt <= 5 ? 'retrying_credentials' : 'refused');
      expect(logged.includes('polybolt.refused')).toBe(attempt === 6);
      await clock.advance(59_999);
      expect(sockets.attempts).toBe(attempt);
      await clock.advance(1);
    }
    await clock.advance(3_600_000);
    expect(sockets.attempts).toBe(6);
  });

  test('are forgotten once the venue has accepted them', async () => {
    await connected(1);
    say({ op: 'error', code: 'auth_invalid', rid: received()[0]!.rid });
    await until(() => feed.state === 'retrying_credentials');
    await clock.advance(60_000);
    await subscribed(2);
    for (let attempt = 2; attempt <= 6; attempt++) {
      say({ op: 'error', code: 'auth_expired' });
      await until(() => venue.latest.closed);
      expect(feed.state).toBe('retrying_credentials');
      await clock.advance(60_000);
      await connected(attempt + 1);
    }
  });

  test('a verifier that is down is tried again with the usual pauses', async () => {
    await connected(1);
    say({ op: 'error', code: 'auth_unavailable', rid: received()[0]!.rid });
    await until(() => venue.latest.closed);
    await clock.advance(374);
    expect(sockets.attempts).toBe(1);
    await clock.advance(1);
    await connected(2);
  });
});

test('the credentials are in no log line, metric or dump, even if the venue repeats them', async () => {
  await connected(1);
  // The words of the auth frame inside an error, and in a text that is not understood.
  const repeated = venue.latest.received[0]!;
  venue.latest.socket.send(JSON.stringify({ op: 'error', code: 'bad_op', detail: repeated }));
  venue.latest.socket.send(repeated.slice(1));
  await until(() => logged.split('polybolt.credential_repeated').length === 3);
  await heard({ op: 'error', code: 'auth_attempts' });
  expect(repeated).toContain(SECRET);
  const places = [logged, frames.join(), await metrics.registry.metrics(), inspect(feed, { depth: 9 })];
  for (const text of TEXTS) expect(places.filter((place) => place.includes(text))).toEqual([]);
});

test('an unknown error is counted as such', async () => {
  await connected(1);
  await heard({ op: 'error', code: 'new_code' });
  expect(await metric('underround_polybolt_errors_total')).toEqual([
    'underround_polybolt_errors_total{code="other"} 1',
  ]);
});

test('a text that is not JSON is passed on', async () => {
  await connected(1);
  venue.latest.socket.send('not JSON');
  await heard({ op: 'other' });
  expect(frames[0]).toBe('not JSON');
});

test.each(TEXTS)('a frame that repeats %s alone is neither passed on nor logged', async (text) => {
  await connected(1);
  say({ op: 'error', code: 'bad_op', detail: text });
  await heard({ op: 'other' });
  expect(logged).toContain('polybolt.credential_repeated');
  expect([logged, frames.join()].filter((place) => place.includes(text))).toEqual([]);
});

test('reports every channel of every symbol that delivers nothing for 10 minutes', async () => {
  await connected(1);
  expect(metrics.venueDrift.topics.silent(clock.now() + 600_000).map(({ topic }) => topic)).toEqual([
    ...['price.crypto btcusd', 'price.crypto solusd'],
    ...['price.crypto.twap btcusd', 'price.crypto.twap solusd'],
  ]);
});

test('closing ends the wait for an unanswered command, and leaves no timer', async () => {
  await connected(1);
  await feed.close();
  expect(clock.waiting).toBe(0);
});
