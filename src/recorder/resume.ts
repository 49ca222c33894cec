import { PRICE_TAPE_MS } from '../core/priceTape.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { StoreUnavailableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import { type Market, UNKNOWN } from '../schema/market.ts';
import { SEQS_PER_MILLISECOND } from '../schema/records.ts';
import type { PreviousRun } from '../store/journal/journalScan.ts';
import {
  type ResumedStore,
  resumedLastBooks,
  resumedLastProven,
  resumedMarkets,
  resumedOpenGaps,
  resumedPrices,
} from '../store/journal/resumeRows.ts';
import { loadRecentBooks } from '../store/queries/resume.ts';
import type { StoreReader } from '../store/reader.ts';
import { OUTCOME_AWAITED_MS } from './liveRecording.ts';
import { RECENT_MS, type RecentSnapshotCounter } from './recentSnapshotCounter.ts';
import { neverStored, SUBSCRIBED_AFTER_END_MS } from './recordedSpan.ts';
import type { Recorder } from './recorder.ts';

/** Rows may be journaled this long after the last sign of life of their run. */
const AFTER_ALIVE_MS = 200;
/** A collector starts without what the store does not say within this time. */
const STORE_ANSWER_MAX_MS = 2_000;

/**
 * Continues where the previous run stopped: its markets, their last books, its open gaps, and the prices from which
 * strikes are computed. Records the downtime as a gap. Must run before any feed is connected.
 * @returns The markets that are still open or whose outcome the listing has not confirmed.
 */
export async function resumeRecording(options: {
  store: ResumedStore & {
    readonly writer: { readonly previousRun: PreviousRun; readonly recovered?: Promise<void> };
  };
  recorder: Recorder;
  clock: Clock;
  log: Logger;
}): Promise<Market[]> {
  const { store, recorder, clock, log } = options;
  const nowMs = clock.now();
  const { lastAliveTimeMs, clean } = store.writer.previousRun;
  const followedAfterMs = nowMs - OUTCOME_AWAITED_MS;
  const subscribedThen = (lastAliveTimeMs ?? Number.POSITIVE_INFINITY) - SUBSCRIBED_AFTER_END_MS;
  const endAfterMs = Math.min(followedAfterMs, subscribedThen);
  // Markets of imports without a listing have no slug with which to ask the venue.
  const stored = (await resumedMarkets(store, { endAfterMs })).filter(({ slug }) => slug !== UNKNOWN);
  const markets = stored.filter((market) => isUnfinished(market, nowMs));
  const books = await resumedLastBooks(
    store,
    markets.map(({ marketId }) => marketId),
  );
  const gaps = await resumedOpenGaps(store);
  const proven = await resumedLastProven(store, [
    ...new Set([...stored, ...gaps].map(({ marketId }) => marketId)),
  ]);
  const numbered = [...books, ...proven.values()].reduce((newest, { seq }) => Math.max(newest, seq), 0);
  const aliveSeq = ((lastAliveTimeMs ?? 0) + AFTER_ALIVE_MS) * SEQS_PER_MILLISECOND;
  recorder.continueAfter(Math.max(numbered, lastAliveTimeMs === null ? 0 : aliveSeq));
  const lastBooks = new Map(books.map((book) => [book.marketId, book]));
  for (const market of stored) {
    const { marketId, status, endTimeMs } = market;
    // Followed markets get their gap below, and it ends with their book.
    if (endTimeMs > followedAfterMs || status === 'resolved' || lastAliveTimeMs === null) continue;
    const start = proven.get(marketId) ?? neverStored(market, lastAliveTimeMs);
    const gap = { marketId, start, cause: 'process_down', feed: 'underround', knownTimeMs: nowMs } as const;
    recorder.gaps.passed(gap, { eventTimeMs: nowMs, receivedTimeMs: nowMs }, null);
  }
  for (const market of markets) {
    const book = lastBooks.get(market.marketId);
    recorder.resume(
      market,
      book === undefined ? null : { book, proven: proven.get(market.marketId) ?? null },
    );
  }
  for (const gap of gaps) {
    recorder.gaps.resume(gap, proven.get(gap.marketId) ?? null);
    // The market has ended and is not followed: nothing would close its gap later.
    if (recorder.market(gap.marketId) === null) recorder.gaps.abandon(gap.marketId, nowMs);
  }
  await resumePrices(recorder, store, nowMs);
  await countRecent(options, nowMs);
  if (markets.length === 0) return [];
  if (lastAliveTimeMs !== null) recorder.wasDown(lastAliveTimeMs, nowMs);
  log.info({ markets: markets.length, lastAliveTimeMs, clean }, 'recording.resumed');
  return markets;
}

/**
 * Gives a collector of a cluster the markets and prices that are stored. It begins without books: another collector may
 * have recorded meanwhile, and the merge of both knows what nobody saw. A store that does not answer delays nothing:
 * the listings name the markets again, and only strikes of running windows may be missing.
 * @returns The markets that are still open or whose outcome the listing has not confirmed.
 */
export async function resumeCollecting(options: {
  store: StoreReader;
  recorder: Recorder;
  clock: Clock;
  log: Logger;
}): Promise<Market[]> {
  const { store, recorder, clock, log } = options;
  const late = new AbortController();
  const loading = loadCollected(store, clock.now());
  const tooLong = sleep(clock, STORE_ANSWER_MAX_MS, late.signal).then(() => {
    throw new StoreUnavailableError(`the store did not answer within ${STORE_ANSWER_MAX_MS / 1_000} s`);
  });
  try {
    const { markets, prices } = await Promise.race([loading, tooLong]);
    for (const market of markets) recorder.track(market);
    for (const price of prices) recorder.resumePrice(price);
    log.info({ markets: markets.length }, 'collecting.resumed');
    return markets;
  } catch (error) {
    log.warn({ err: error }, 'collecting.store_not_read');
    return [];
  } finally {
    loading.catch(() => undefined);
    tooLong.catch(() => undefined);
    late.abort();
  }
}

async function loadCollected(store: StoreReader, nowMs: number) {
  const stored = await resumedMarkets(store, { endAfterMs: nowMs - OUTCOME_AWAITED_MS });
  const markets = stored.filter((market) => market.slug !== UNKNOWN && isUnfinished(market, nowMs));
  const prices = await resumedPrices(store, { fromMs: nowMs - PRICE_TAPE_MS, toMs: nowMs });
  return { markets, prices };
}

/** Whether a market is open, or its outcome is not confirmed yet and still awaited. */
function isUnfinished({ confirmedTimeMs, endTimeMs }: Market, nowMs: number): boolean {
  return endTimeMs > nowMs - OUTCOME_AWAITED_MS && (confirmedTimeMs === null || endTimeMs > nowMs);
}

async function resumePrices(recorder: Recorder, store: ResumedStore, nowMs: number): Promise<void> {
  const prices = await resumedPrices(store, { fromMs: nowMs - PRICE_TAPE_MS, toMs: nowMs });
  for (const price of prices) recorder.resumePrice(price);
}

/** Adds the stored books of the last minutes to a counter. */
export async function addRecentBooks(
  store: StoreReader,
  recent: RecentSnapshotCounter,
  nowMs: number,
): Promise<void> {
  const rows = await loadRecentBooks(store, { sinceMs: nowMs - RECENT_MS, untilMs: nowMs });
  for (const { timeMs, books } of rows) recent.add(timeMs, books);
}

/** Counts recent books, so that a restart does not look like a service without data. */
async function countRecent(
  { store, recorder, log }: Parameters<typeof resumeRecording>[0],
  nowMs: number,
): Promise<void> {
  const count = () => addRecentBooks(store, recorder.recent, nowMs);
  if (store.waiting?.isEmpty ?? true) return await count();
  // Counted once all rows are in the engine: only the engine knows which rows it already had.
  const failed = (error: unknown) => log.warn({ err: error }, 'recording.recent_not_counted');
  void store.writer.recovered?.then(count).catch(failed);
}
