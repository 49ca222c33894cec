/** The simulated recording that the pictures of docs/CONCEPTS.md show: six minutes of one five-minute market. */
import { FrameRouter } from '../../src/recorder/import/frameRouter.ts';
import { Recorder } from '../../src/recorder/recorder.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import {
  type BookRecord,
  type GapRecord,
  type QuoteRecord,
  recordSink,
  type UnderlyingRecord,
} from '../../src/schema/records.ts';
import { generateHistory } from '../../src/simulator/history.ts';
import { VenueModel } from '../../src/simulator/model.ts';

export const START_MS = Date.UTC(2026, 10, 20, 15);
export const WINDOW_MS = 300_000;
const RECORDED_MS = 330_000;
const LEAD_MS = 10_000;
const DENSITY = 0.05;
/** So many that the window has some underrounds. */
const OPPORTUNITIES_PER_HOUR = 30;
const SEED = 'concepts';
/** Messages of these seconds are left out of the second recording, as after a lost connection. */
export const LOST_MS = { from: 110_000, to: 150_000 };

/** A level of a book: price in 1/10000 USDC, size in 1/1,000,000 share. */
export type Level = readonly [price: number, size: number];

export interface RecordedBook {
  readonly timeMs: number;
  readonly trusted: boolean;
  readonly bids: readonly Level[];
  readonly asks: readonly Level[];
}

export interface Recording {
  readonly slug: string;
  readonly books: readonly RecordedBook[];
  readonly quotes: readonly QuoteRecord[];
  readonly prices: readonly UnderlyingRecord[];
  readonly gaps: readonly GapRecord[];
}

/** Records the window of BTC that starts at `START_MS`. @param isCut Leaves out the messages of `LOST_MS`. */
export function record({ isCut }: { isCut: boolean }): Recording {
  const kept = {
    books: [] as BookRecord[],
    quotes: [] as QuoteRecord[],
    prices: [] as UnderlyingRecord[],
    gaps: [] as GapRecord[],
  };
  const slug = `btc-updown-5m-${START_MS / 1000}`;
  let marketId = '';
  const sink = recordSink((kind, row) => {
    if (kind === 'market' && 'slug' in row && row.slug === slug) marketId = row.marketId;
    if (kind === 'book') kept.books.push(copyOf(row as BookRecord));
    if (kind === 'quote') kept.quotes.push({ ...(row as QuoteRecord) });
    if (kind === 'underlying') kept.prices.push(row as UnderlyingRecord);
    if (kind === 'gap') kept.gaps.push(row as GapRecord);
  });
  const recorder = new Recorder({
    sink,
    clock: systemClock,
    log: silentLogger,
    metrics: new Metrics(),
    timeBy: 'receipt',
  });
  const router = new FrameRouter({ recorder, log: silentLogger });
  const model = new VenueModel({
    seed: SEED,
    startTimeMs: START_MS - LEAD_MS,
    density: DENSITY,
    opportunitiesPerHour: OPPORTUNITIES_PER_HOUR,
    tickers: ['BTC'],
    eventTypes: ['5m'],
  });
  const routes = { 'binance.spot': 'binance' } as const;
  for (const { feed, frame, receivedTimeMs } of generateHistory(model, {
    endTimeMs: START_MS + RECORDED_MS,
    tickers: ['BTC'],
  })) {
    const afterMs = receivedTimeMs - START_MS;
    if (isCut && feed === 'polymarket.clob' && afterMs >= LOST_MS.from && afterMs < LOST_MS.to) continue;
    router.route(feed === 'binance.spot' ? routes[feed] : feed, frame, receivedTimeMs);
  }
  router.finish();
  recorder.close();
  const ofMarket = <T extends { readonly marketId: string }>(rows: readonly T[]) =>
    rows.filter((row) => row.marketId === marketId);
  return {
    slug,
    books: ofMarket(kept.books).map(({ eventTimeMs, trusted, yes }) => ({
      timeMs: eventTimeMs,
      trusted,
      bids: levelsOf(yes.bids),
      asks: levelsOf(yes.asks),
    })),
    quotes: ofMarket(kept.quotes),
    prices: kept.prices.filter(({ source, ticker }) => source === 'chainlink' && ticker === 'BTC'),
    gaps: [...new Map(ofMarket(kept.gaps).map((gap) => [gap.gapId, gap])).values()],
  };
}

/** The recorder reuses the arrays of its books. */
function copyOf(row: BookRecord): BookRecord {
  return structuredClone(row);
}

function levelsOf({ count, prices, sizes }: BookRecord['yes']['bids']): Level[] {
  return Array.from({ length: count }, (_, at) => [prices[at] as number, sizes[at] as number] as const);
}
