import { afterEach, beforeEach, expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { LocalVenue, until } from '../../../../test/support/localVenue.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { DirectSocketDriver } from '../../venueSocket.ts';
import { RtdsFeed } from './feed.ts';

let venue: LocalVenue;
let clock: FakeClock;
let feed: RtdsFeed;
let frames: string[];
let metrics: Metrics;

beforeEach(async () => {
  venue = await LocalVenue.start();
  clock = new FakeClock();
  frames = [];
  metrics = new Metrics();
  feed = new RtdsFeed({
    url: venue.wsUrl,
    tickers: ['BTC', 'SOL'],
    sockets: new DirectSocketDriver(clock),
    clock,
    random: () => 0,
    log: silentLogger,
    metrics,
    onFrame: (frame) => frames.push(frame),
  });
});
afterEach(async () => {
  await feed.close();
  await venue.stop();
});

const subscribed = (times: number) =>
  until(() => venue.connections.length === times && venue.latest.received.length === 2);
const subscriptions = () =>
  venue.latest.received
    .slice(0, 2)
    .map((text) => JSON.parse(text) as { subscriptions: { filters: string }[] });
const filters = () => subscriptions().flatMap((frame) => frame.subscriptions.map((entry) => entry.filters));
/** Lets the feed freeze until it closes the connection, and waits for its back-off. */
async function freeze(retryDelayMs: number): Promise<void> {
  await clock.advance(20_000);
  await until(() => venue.latest.closed);
  await clock.advance(retryDelayMs);
}

test('subscribes each topic in a frame of its own, for each symbol, compact, and pings every 5 s', async () => {
  await subscribed(1);
  expect(subscriptions()).toEqual(
    ['crypto_prices_chainlink', 'crypto_prices_twap_sixty'].map((topic) => ({
      action: 'subscribe',
      subscriptions: [
        { topic, type: '*', filters: '{"symbol":"btc/usd"}' },
        { topic, type: '*', filters: '{"symbol":"sol/usd"}' },
      ],
    })),
  );
  await clock.advance(15_000);
  await until(() => venue.latest.received.length === 5);
  expect(venue.latest.received.slice(2)).toEqual(['PING', 'PING', 'PING']);
});

test('changes the filter spelling until prices arrive, and keeps it', async () => {
  await subscribed(1);
  await freeze(250);
  await subscribed(2);
  expect(filters()).toEqual(['btc/usd', 'sol/usd', 'btc/usd', 'sol/usd']);
  venue.latest.socket.send('{"topic":"crypto_prices_chainlink","type":"update"}');
  await until(() => frames.some((frame) => frame.includes('chainlink')));
  await freeze(500);
  await subscribed(3);
  expect(filters()).toEqual(['btc/usd', 'sol/usd', 'btc/usd', 'sol/usd']);
  await freeze(1000);
  await subscribed(4);
  expect(filters()).toEqual(['', '']);
  await freeze(2000);
  await subscribed(5);
  expect(filters().slice(0, 2)).toEqual(['{"symbol":"btc/usd"}', '{"symbol":"sol/usd"}']);
});

test('reports the topics of a symbol that deliver nothing for 10 minutes, over every reconnect', async () => {
  const { topics } = metrics.venueDrift;
  await subscribed(1);
  const start = clock.now();
  topics.heard('polymarket.rtds', 'crypto_prices_chainlink btc/usd', start + 300_000);
  expect(topics.silent(start + 600_000).map(({ topic }) => topic)).toEqual([
    'crypto_prices_chainlink sol/usd',
    'crypto_prices_twap_sixty btc/usd',
    'crypto_prices_twap_sixty sol/usd',
  ]);
  await freeze(0);
  expect(topics.silent(start + 600_000)).toEqual([]);
  await clock.advance(250);
  await subscribed(2);
  expect(topics.silent(start + 600_000)).toHaveLength(3);
});
