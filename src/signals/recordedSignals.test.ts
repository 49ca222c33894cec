import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { book as bookOf } from '../../test/support/records.ts';
import { Bus } from '../bus/bus.ts';
import { publishingSink } from '../bus/publishingSink.ts';
import { StrikeFinder } from '../lifecycle/strikeFinder.ts';
import { FrameRouter } from '../recorder/import/frameRouter.ts';
import { Recorder } from '../recorder/recorder.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Market } from '../schema/market.ts';
import { generateHistory } from '../simulator/history.ts';
import { VenueModel } from '../simulator/model.ts';
import type { Detection } from './detection.ts';
import { DetectorHost } from './detectorHost.ts';
import { OpportunityTracker } from './opportunityTracker.ts';
import { TickerPrices } from './tickerPrices.ts';
import { WatchedMarket } from './watchedMarket.ts';

const START = Date.UTC(2026, 10, 20, 15, 52);
const MINUTE = 60_000;
const FEEDS = {
  'polymarket.clob': 'polymarket.clob',
  'polymarket.gamma': 'polymarket.gamma',
  'polymarket.rtds': 'polymarket.rtds',
  'binance.spot': 'binance',
  'bybit.rest': 'bybit.rest',
} as const;

/** A recorder over simulated venues, the detectors behind it, and everything recorded. */
function simulate(options: { seed: string; opportunitiesPerHour: number; density: number }) {
  const clock = new FakeClock(START);
  const common = { clock, log: silentLogger, metrics: new Metrics() };
  const bus = new Bus(common);
  const sink = new MemorySink();
  const recorder = new Recorder({ ...common, sink: publishingSink(sink, bus), timeBy: 'receipt' });
  const strikes = new StrikeFinder({ candles: null, ...common });
  const router = new FrameRouter({ recorder, log: silentLogger, strikes });
  const detections: Detection[] = [];
  const host = new DetectorHost({
    ...common,
    sink: {
      detected: async (detection) => {
        detections.push(detection);
        return detection;
      },
      executable: async () => {},
    },
  });
  bus.subscribe('market', (market) => host.onMarket(market));
  bus.subscribe('book', (record) => host.onBook(record));
  bus.subscribe('quote', (record) => host.onQuote(record));
  bus.subscribe('gap', (gap) => host.onGap(gap));
  bus.subscribe('underlying', (event) => host.onPrice(event));
  const model = new VenueModel({ ...options, startTimeMs: START, tickers: ['BTC'] });
  const play = function* (endTimeMs: number) {
    for (const { feed, frame, receivedTimeMs } of generateHistory(model, { endTimeMs })) {
      clock.stepWall(receivedTimeMs - clock.now());
      router.route(FEEDS[feed], frame, receivedTimeMs);
      yield receivedTimeMs;
    }
  };
  return { clock, sink, recorder, host, detections, play, close: () => host.close() };
}

type Simulation = ReturnType<typeof simulate>;

/** The open opportunities computed from the records alone, each market on its own, without the host's state. */
function fromScratch({ sink, recorder }: Simulation, nowMs: number): string[] {
  const said: string[] = [];
  for (const market of recorder.markets()) {
    const watched = WatchedMarket.of(market as Market, nowMs);
    if (watched === null || market.status === 'resolved' || market.endTimeMs <= nowMs) continue;
    const books = sink.books.filter(({ marketId }) => marketId === market.marketId);
    const last = books.at(-1);
    const quote = sink.quotes.filter(({ marketId }) => marketId === market.marketId).at(-1);
    if (last === undefined || !last.trusted || quote?.trusted !== true) continue;
    const prices = new TickerPrices();
    for (const point of sink.underlyings) if (point.ticker === market.ticker) prices.push(point);
    // The states before the last change of trust do not show how long a price was unchanged.
    const from = books.findLastIndex(({ trusted }) => !trusted) + 1;
    for (const { yes, no, receivedTimeMs } of books.slice(from)) {
      watched.copyBook({ yes: bookOf(yes.bids, yes.asks), no: bookOf(no.bids, no.asks) });
      watched.priceAge.update(watched, receivedTimeMs);
    }
    watched.isProven = true;
    watched.price(prices, nowMs);
    for (const { slot, signal } of new OpportunityTracker().update(watched)) {
      said.push(
        JSON.stringify([market.marketId, slot, signal.direction, signal.fillPrice, signal.edgePerShare]),
      );
    }
  }
  return said.sort();
}

function open({ host }: Simulation, nowMs: number): string[] {
  return [...host.openOpportunities(nowMs)]
    .map(({ watched, opportunity: { slot, signal } }) =>
      JSON.stringify([
        watched.market.marketId,
        slot,
        signal.direction,
        signal.fillPrice,
        signal.edgePerShare,
      ]),
    )
    .sort();
}

test('the board is what the detectors say of the records from scratch, on a stream with every kind of chance', () => {
  const simulation = simulate({ seed: '11', opportunitiesPerHour: 240, density: 0.02 });
  let [frames, compared, stood] = [0, 0, 0];
  for (const nowMs of simulation.play(START + 10 * MINUTE)) {
    if (++frames % 1_997 !== 0) continue;
    // A second later, because a volatility is valid for a second.
    const laterMs = nowMs + 1_000;
    simulation.clock.stepWall(1_000);
    simulation.host.evaluateAll(laterMs);
    const expected = fromScratch(simulation, laterMs);
    expect(open(simulation, laterMs)).toEqual(expected);
    compared++;
    stood += expected.length;
  }
  simulation.close();
  expect(compared).toBeGreaterThan(5);
  expect(stood).toBeGreaterThan(5);
});

test('cheap pairs are found where they are planted, at the books that were trusted, once a market', () => {
  const simulation = simulate({ seed: '12', opportunitiesPerHour: 120, density: 0.02 });
  for (const _ of simulation.play(START + 12 * MINUTE));
  simulation.close();
  const { detections, sink } = simulation;
  const logical = detections.filter(({ tier }) => tier === 'logical');
  expect(logical.length).toBeGreaterThan(2);
  expect(new Set(detections.map(({ auditId }) => auditId)).size).toBe(detections.length);
  for (const { marketId, receivedMs, evPerShare, best } of logical) {
    const shown = sink.books.filter((row) => row.marketId === marketId && row.receivedTimeMs <= receivedMs);
    expect(shown.at(-1)).toMatchObject({ trusted: true, mirrored: false });
    expect((best.yesAsk ?? 1) + (best.noAsk ?? 1)).toBeLessThan(1);
    expect(evPerShare).toBeGreaterThan(0);
  }
});

test('a consistent venue, whose actions come in pieces, never shows a logical chance', () => {
  const simulation = simulate({ seed: '13', opportunitiesPerHour: 0, density: 0.1 });
  let frames = 0;
  for (const _ of simulation.play(START + 6 * MINUTE)) {
    if (++frames % 1_000 === 0) simulation.sink.books.length = 0;
  }
  simulation.close();
  expect(frames).toBeGreaterThan(10_000);
  expect(simulation.detections.filter(({ tier }) => tier === 'logical')).toEqual([]);
});
