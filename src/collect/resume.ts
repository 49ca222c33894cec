import type { Clock } from '../clock.ts';
import { PRICE_TAPE_MS } from '../core/priceTape.ts';
import type { Logger } from '../ops/log.ts';
import { type Market, UNKNOWN } from '../schema/market.ts';
import {
  loadLastBooks,
  loadMarkets,
  loadOpenGaps,
  loadRecentBooks,
  loadRecentPrices,
} from '../store/markets.ts';
import type { StoreReader } from '../store/reader.ts';
import type { PreviousRun } from '../store/recovery.ts';
import type { Recorder } from './recorder.ts';

/** Markets that ended longer ago are not followed to their outcome any more. */
const LOOK_BACK_MS = 86_400_000;
/** What `/health` counts. */
const RECENT_MS = 300_000;

/**
 * Takes up where the run before stopped: its markets, their last books, its open gaps, the prices that strikes are made
 * of; and records as a gap the time nobody was there. No feed may be connected yet.
 * @returns The markets that are still open or whose outcome the listing has not confirmed.
 */
export async function resumeRecording(options: {
  store: StoreReader & { readonly writer: { readonly previousRun: PreviousRun } };
  recorder: Recorder;
  clock: Clock;
  log: Logger;
}): Promise<Market[]> {
  const { store, recorder, clock, log } = options;
  const nowMs = clock.now();
  const { lastAliveTimeMs, clean } = store.writer.previousRun;
  const followedAfterMs = nowMs - LOOK_BACK_MS;
  const endAfterMs = Math.min(followedAfterMs, lastAliveTimeMs ?? followedAfterMs);
  // Markets of imports without a listing have no slug to ask the venue by.
  const stored = (await loadMarkets(store, { endAfterMs })).filter(({ slug }) => slug !== UNKNOWN);
  const markets = stored.filter(
    ({ confirmedTimeMs, endTimeMs }) =>
      endTimeMs > followedAfterMs && (confirmedTimeMs === null || endTimeMs > nowMs),
  );
  const books = await loadLastBooks(
    store,
    markets.map(({ marketId }) => marketId),
  );
  const lastBooks = new Map(books.map((book) => [book.marketId, book]));
  for (const { marketId, status, endTimeMs } of stored) {
    // Those that are followed get theirs below, and it ends with their book.
    if (endTimeMs > followedAfterMs || status === 'resolved' || lastAliveTimeMs === null) continue;
    const gap = { marketId, cause: 'process_down', feed: 'underround' } as const;
    recorder.gaps.passed({ ...gap, startTimeMs: lastAliveTimeMs, knownTimeMs: nowMs }, nowMs, null);
  }
  for (const market of markets) recorder.resume(market, lastBooks.get(market.marketId) ?? null);
  for (const gap of await loadOpenGaps(store)) {
    recorder.gaps.resume(gap);
    // Its market is over and forgotten: nothing would end it later.
    if (recorder.market(gap.marketId) === null) recorder.gaps.close(gap.marketId, nowMs, null);
  }
  const prices = await loadRecentPrices(store, { fromMs: nowMs - PRICE_TAPE_MS, toMs: nowMs });
  for (const price of prices) recorder.resumePrice(price);
  // So that a restart does not look like a service without data.
  for (const { timeMs, books: count } of await loadRecentBooks(store, nowMs - RECENT_MS))
    recorder.recent.add(timeMs, count);
  if (markets.length === 0) return [];
  if (lastAliveTimeMs !== null) recorder.wasDown(lastAliveTimeMs, nowMs);
  log.info({ markets: markets.length, lastAliveTimeMs, clean }, 'recording.resumed');
  return markets;
}
