/**
 * The data that recording loads when it starts: rows of the engine, and rows of dead runs' journals that recovery has
 * not inserted yet. Nothing is inserted for it, so a start does not wait for the engine to write. Waiting rows are
 * always read first: recovery drops them only once the engine has them.
 */
import type { UnderlyingEvent } from '../../schema/events.ts';
import type { Gap } from '../../schema/gap.ts';
import type { Market } from '../../schema/market.ts';
import { loadMarkets } from '../queries/markets.ts';
import {
  loadLastBooks,
  loadLastProven,
  loadOpenGaps,
  loadRecentPrices,
  type ProvenRow,
  type StoredBook,
} from '../queries/resume.ts';
import type { StoreReader } from '../reader.ts';
import { loadSecondPrices, type SecondPrice } from '../tables/bookReceived.ts';
import { isLater, type Numbered, type WaitingRowIndex } from './waitingRowIndex.ts';

/** A store with its waiting rows; `waiting` is absent where everything is in the engine. */
export interface ResumedStore extends StoreReader {
  readonly waiting?: WaitingRowIndex;
}

/** Keys in one query: they are sent in the URL, and a ClickHouse server accepts URLs up to 1 MiB. */
const KEYS_PER_QUERY = 2_000;

/** The newest record of every market that ends after `endAfterMs`, by end time. */
export async function resumedMarkets(
  store: ResumedStore,
  { endAfterMs }: { endAfterMs: number },
): Promise<Market[]> {
  const waiting = store.waiting?.markets() ?? [];
  const markets = await newestRecords<Market>(store, {
    stored: await loadMarkets(store, { endAfterMs }),
    waiting,
    table: 'markets',
    column: 'market_id',
    keyOf: ({ marketId }) => marketId,
  });
  return markets
    .filter((market) => market.endTimeMs > endAfterMs)
    .sort((a, b) => a.endTimeMs - b.endTimeMs || (a.marketId < b.marketId ? -1 : 1));
}

/** Open gaps, by start time. */
export async function resumedOpenGaps(store: ResumedStore): Promise<Gap[]> {
  const waiting = store.waiting?.gaps() ?? [];
  const gaps = await newestRecords<Gap>(store, {
    stored: await loadOpenGaps(store),
    waiting,
    table: 'gaps',
    column: 'gap_id',
    keyOf: ({ gapId }) => gapId,
  });
  return gaps
    .filter((gap) => gap.endTimeMs === null)
    .sort((a, b) => a.startTimeMs - b.startTimeMs || (a.gapId < b.gapId ? -1 : 1));
}

/** The last book of each market; markets without one are omitted. */
export async function resumedLastBooks(
  store: ResumedStore,
  marketIds: readonly string[],
): Promise<StoredBook[]> {
  const waiting = marketIds.map((marketId) => store.waiting?.lastBook(marketId) ?? null);
  const books = new Map((await loadLastBooks(store, marketIds)).map((book) => [book.marketId, book]));
  for (const book of waiting) {
    const stored = book === null ? undefined : books.get(book.marketId);
    if (book !== null && (stored === undefined || isLater(book, stored))) books.set(book.marketId, book);
  }
  return [...books.values()];
}

/** The last verified row of each market, by arrival; markets without one are omitted. */
export async function resumedLastProven(
  store: ResumedStore,
  marketIds: readonly string[],
): Promise<Map<string, ProvenRow>> {
  const waiting = marketIds.map((marketId) => [marketId, store.waiting?.lastProven(marketId)] as const);
  const proven = await loadLastProven(store, marketIds);
  for (const [marketId, row] of waiting) {
    if (row != null && row.seq > (proven.get(marketId)?.seq ?? 0)) proven.set(marketId, row);
  }
  return proven;
}

/** Prices by their own event time within a range, in receive order, like `loadRecentPrices`. */
export async function resumedPrices(
  store: ResumedStore,
  range: { fromMs: number; toMs: number },
): Promise<UnderlyingEvent[]> {
  const waiting = store.waiting?.prices(range) ?? [];
  const prices = new Map<string, Numbered<UnderlyingEvent>>();
  for (const price of [...(await loadRecentPrices(store, range)), ...waiting]) {
    const { ticker, source, eventTimeMs } = price;
    // The last trade of a second counts, and the first relayed point.
    const isTrade = source.endsWith('_spot');
    const pointMs = isTrade ? Math.ceil(eventTimeMs / 1000) * 1000 : eventTimeMs;
    const key = JSON.stringify([ticker, source, pointMs]);
    const known = prices.get(key);
    if (known === undefined || isLater(price, known) === isTrade) prices.set(key, price);
  }
  return [...prices.values()].sort((a, b) => a.seq - b.seq);
}

/** The last price of each second since `sinceMs`, by event time, like `loadSecondPrices`. */
export async function resumedSecondPrices(store: ResumedStore, sinceMs: number): Promise<SecondPrice[]> {
  const prices = new Map<string, SecondPrice>();
  const waiting = store.waiting?.prices({ fromMs: sinceMs - 1, toMs: Number.POSITIVE_INFINITY }) ?? [];
  waiting.sort((a, b) => a.seq - b.seq);
  for (const price of [...(await loadSecondPrices(store, sinceMs)), ...waiting]) {
    const key = JSON.stringify([price.ticker, price.source, Math.floor(price.eventTimeMs / 1000)]);
    if ((prices.get(key)?.eventTimeMs ?? 0) > price.eventTimeMs) continue;
    const { ticker, source, price: value, eventTimeMs, receivedTimeMs } = price;
    prices.set(key, { ticker, source, price: value, eventTimeMs, receivedTimeMs });
  }
  return [...prices.values()].sort((a, b) => a.eventTimeMs - b.eventTimeMs);
}

/** The stored records; a waiting record replaces them where it is newer than every stored one of its key. */
async function newestRecords<T>(
  store: StoreReader,
  { stored, waiting, table, column, keyOf }: RecordSources<T>,
): Promise<T[]> {
  const newest = new Map<string, number>();
  for (let from = 0; from < waiting.length; from += KEYS_PER_QUERY) {
    const keys = waiting.slice(from, from + KEYS_PER_QUERY).map(keyOf);
    const rows = await store.rows<{ key: string; newest: number }>(
      `SELECT ${column} AS key, max(seq) AS newest FROM ${table}
       WHERE ${column} IN {keys:Array(String)} GROUP BY key`,
      { keys },
    );
    for (const row of rows) newest.set(row.key, row.newest);
  }
  const newer = waiting
    .filter((record) => record.seq > (newest.get(keyOf(record)) ?? Number.NEGATIVE_INFINITY))
    .map(({ seq: _, ...record }) => record as T);
  return [...new Map([...stored, ...newer].map((record) => [keyOf(record), record])).values()];
}

interface RecordSources<T> {
  readonly stored: readonly T[];
  readonly waiting: readonly Numbered<T>[];
  readonly table: string;
  /** Column of the key. */
  readonly column: string;
  readonly keyOf: (record: T) => string;
}
