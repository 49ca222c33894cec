import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { Collector } from '../../src/lifecycle/collector.ts';
import { Recorder } from '../../src/recorder/recorder.ts';
import { silentFeeds } from '../../src/recorder/watchdog/silentFeeds.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { PERP_VENUES, type PerpVenueName } from '../../src/schema/events.ts';
import { type PerpDepthRecord, recordSink } from '../../src/schema/records.ts';
import { VenueModel } from '../../src/simulator/model.ts';
import { VenueServer } from '../../src/simulator/server.ts';
import { KEY, testApi } from '../support/api.ts';
import { FakeClock } from '../support/fakeClock.ts';
import { PERP_SAMPLES } from '../support/perpSamples.ts';
import { openTestStore, type TestStore } from '../support/store.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';

const START = Date.UTC(2026, 10, 20, 15, 1);
/** Long enough for every venue to be polled several times. */
const POLLED_MS = 2_000;
const STEP_MS = 25;

let clock: FakeClock;
let metrics: Metrics;
let venues: VenueServer;
let opened: TestStore;
let recorder: Recorder;
let collector: Collector;
let api: FastifyInstance;
let stored: PerpDepthRecord[];

/** Records the perpetual venues of the simulator, and nothing else, into a real store behind the real API. */
beforeEach(async () => {
  clock = new FakeClock(START);
  metrics = new Metrics();
  venues = new VenueServer({
    model: new VenueModel({ seed: 'perp', startTimeMs: START, density: 0.01 }),
    ...{ clock, logger: silentLogger },
  });
  await venues.start();
  opened = await openTestStore();
  stored = [];
  const { writer } = opened.store;
  const sink = recordSink((kind, record) => {
    if (kind !== 'perpDepth') return;
    stored.push(record as PerpDepthRecord);
    writer.perpDepth(record as PerpDepthRecord);
  });
  const common = { clock, log: silentLogger, metrics };
  recorder = new Recorder({ ...common, sink, timeBy: 'clock' });
  const perpUrls = Object.entries(venues.urls()).filter(([name]) => name.includes('_PERP_'));
  const { tickers, ...config } = loadConfig({ ...VENUES_OFF, ...Object.fromEntries(perpUrls) });
  const sockets = { receiveWaiting: () => true, lagMs: 0 } as never;
  collector = new Collector({
    ...common,
    venues: config.venues,
    tickers,
    credentials: null,
    sockets,
    recorder,
    random: () => 0.5,
  });
  api = testApi({ store: opened.store });
});

afterEach(async () => {
  await collector.close();
  await api.close();
  recorder.close();
  await opened.dispose();
  await venues.stop();
});

/** Advances time in steps shorter than any poll's period; every poll has its outcome before the next step. */
async function record(): Promise<void> {
  collector.start([]);
  for (let at = 0; at <= POLLED_MS; at += STEP_MS) {
    await clock.advance(at === 0 ? 0 : STEP_MS);
    while ((await pollsCounted()) < pollsDue(at)) await new Promise<void>((resolve) => setImmediate(resolve));
  }
  expect(await pollsCounted()).toBe(pollsDue(POLLED_MS));
}

async function pollsCounted(): Promise<number> {
  const { values } = await metrics.registry.getSingleMetric('underround_perp_polls_total')!.get();
  return values.reduce((total, { value }) => total + value, 0);
}

/** How many polls the grids of all venues have begun, each with its three symbols staggered over the period. */
function pollsDue(atMs: number): number {
  return Object.values(PERP_SAMPLES).reduce((total, { periodMs }) => {
    const perSymbol = [0, 1, 2].map((index) => Math.floor((atMs - (index * periodMs) / 3) / periodMs) + 1);
    return total + perSymbol.reduce((sum, polls) => sum + polls, 0);
  }, 0);
}

const of = (venue: PerpVenueName) => stored.filter((row) => row.venue === venue);

interface Depth {
  readonly total: number;
  readonly snapshots: readonly { readonly update_id: number; readonly bids: readonly [number, number][] }[];
}

async function served(query: string): Promise<Depth> {
  const answer = await api.inject({ url: `/v1/perp/depth?${query}`, headers: KEY });
  expect(answer.statusCode).toBe(200);
  return answer.json();
}

it('records the books of every venue and serves each venue’s own', async () => {
  await record();
  await opened.store.writer.flush();
  for (const venue of PERP_VENUES) {
    for (const ticker of ['BTC', 'ETH', 'SOL'] as const) {
      const rows = of(venue).filter((row) => row.ticker === ticker);
      expect(rows.length, `${venue} ${ticker}`).toBeGreaterThan(2);
      const { total, snapshots } = await served(`ticker=${ticker}&venue=${venue}&limit=1000`);
      expect([total, snapshots.map(({ update_id }) => update_id)]).toEqual([
        rows.length,
        rows.map(({ updateId }) => updateId),
      ]);
      const numbers = rows[0]!.bids.map(([price, size]) => [Number(price), Number(size)]);
      expect(snapshots[0]!.bids).toEqual(numbers);
      expect(numbers).toHaveLength(venue === 'hyperliquid' ? 20 : 50);
    }
  }
  expect((await served('ticker=BTC&limit=1000')).total).toBe(
    of('bybit').filter(({ ticker }) => ticker === 'BTC').length,
  );
});

it('stores the same book in coins, whatever the venue’s units and format', async () => {
  await record();
  const numbered = (venue: PerpVenueName) =>
    new Map(of(venue).map(({ ticker, updateId, bids, asks }) => [`${ticker} ${updateId}`, { bids, asks }]));
  const exact = (side: PerpDepthRecord['bids']) => side.map(([price, size]) => [Number(price), Number(size)]);
  const bybit = numbered('bybit');
  for (const venue of ['binance', 'okx'] as const) {
    const shared = [...numbered(venue)].filter(([id]) => bybit.has(id));
    expect(shared.length, venue).toBeGreaterThan(0);
    for (const [id, { bids, asks }] of shared) {
      expect(exact(bids)).toEqual(exact(bybit.get(id)!.bids));
      expect(exact(asks)).toEqual(exact(bybit.get(id)!.asks));
    }
  }
});

it('measures the lag of each venue, and reports the one that is silent', async () => {
  venues.fault({ fault: 'perp_answer', answer: 'forbidden', count: 1_000, venue: 'okx' });
  await record();
  expect(of('okx')).toEqual([]);
  recorder.lags!.measure();
  const text = await metrics.registry.metrics();
  for (const feed of ['bybit.rest', 'binance.perp', 'hyperliquid.perp'])
    expect(text).toContain(`underround_feed_lag_seconds{feed="${feed}"}`);
  expect(text).not.toContain('underround_feed_lag_seconds{feed="okx.perp"}');
  expect(text).toContain('underround_perp_polls_total{venue="okx",ticker="BTC",outcome="refused"} 1');
  expect(silentFeeds(metrics.venueFeeds, START + 10_000)).toEqual(['silent_feed okx.perp 10.0 s']);
});
