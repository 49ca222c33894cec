import { Readable } from 'node:stream';
import type { Random } from '../../../src/core/random.ts';
import { StoreUnavailableError } from '../../../src/runtime/errors.ts';
import type { Gap } from '../../../src/schema/gap.ts';
import type { BookRecord, SideView } from '../../../src/schema/records.ts';
import { formatTime, formatTimeOrNull } from '../../../src/schema/time.ts';
import type { StoreReader } from '../../../src/store/reader.ts';
import { nativeBooks } from '../../support/nativeBooks.ts';
import { isInGap } from '../checks/recording.ts';
import { newestOf, type StoreModel } from './storeModel.ts';
import type { ProcessClock } from './virtualTime.ts';

/** Half of a query's time, different for each half. */
const HALF_MS_MIN = 1;
const HALF_MS_RANGE = 6;
/** A query of an engine that is away fails after its retries. */
const GIVEN_UP_MS = 800;
const UNIT = 1_000_000;

type Params = Readonly<Record<string, unknown>>;
type Rows = (model: EngineModel, params: Params) => object[];

/** What the engine answers to each statement of the API, by a fragment that no earlier one has in common with it. */
const ROWS: readonly (readonly [mark: string, rows: Rows])[] = [
  ['SELECT 1', () => [{ 1: 1 }]],
  // Days and incidents of the status page.
  ['SETTINGS max_execution_time', () => []],
  // Every market of the world is followed, so its record is in memory.
  ['FROM markets', () => []],
  ['AS total FROM gaps', (model, params) => [{ total: model.gapsIn(params).length }]],
  ['AS gap_id', (model, params) => model.gapsIn(params).slice(0, Number(params.limit)).map(gapRow)],
  ['AS gapId', (model, { marketIds }) => model.gaps().filter((gap) => isAmong(marketIds, gap.marketId))],
  ['FROM quotes WHERE trusted', (model, { market_ids }) => model.firstQuotes(market_ids)],
];

/** The engine as the API queries it: it answers with the rows of the store model that were inserted. */
export class EngineModel implements StoreReader {
  readonly #store: StoreModel;
  readonly #clock: ProcessClock;
  readonly #random: Random;

  constructor(parts: { store: StoreModel; clock: ProcessClock; random: Random }) {
    this.#store = parts.store;
    this.#clock = parts.clock;
    this.#random = parts.random;
  }

  async rows<T>(query: string, params: Params = {}): Promise<T[]> {
    const found = ROWS.find(([mark]) => query.includes(mark));
    if (found === undefined) throw new Error(`the engine model has no answer to ${query}`);
    return await this.#answer(() => found[1](this, params) as T[]);
  }

  async stream(query: string, params: Params): Promise<Readable> {
    const isPage = query.includes('[t.seq,');
    if (!query.includes('FROM books')) throw new Error(`the engine model has no answer to ${query}`);
    return await this.#answer(() =>
      Readable.from(isPage ? this.#pageOfBooks(query, params) : this.#bookInForce(params)),
    );
  }

  /** The newest version of each gap. */
  gaps(): Gap[] {
    const gaps = newestOf(this.#store.inserted('gap'), ({ gapId }) => gapId);
    return gaps.sort((a, b) => a.startTimeMs - b.startTimeMs || (a.gapId < b.gapId ? -1 : 1));
  }

  /** Those of a list's range. */
  gapsIn({ market_id, except = [], range_start, range_end, after_ms, after_id }: Params): Gap[] {
    return this.gaps()
      .filter((gap) => gap.marketId === market_id && !isAmong(except, gap.gapId))
      .filter(
        ({ startTimeMs, endTimeMs }) =>
          (range_start === undefined || endTimeMs === null || endTimeMs > Number(range_start)) &&
          (range_end === undefined || startTimeMs < Number(range_end)),
      )
      .filter(
        ({ startTimeMs, gapId }) =>
          after_ms === undefined ||
          startTimeMs > Number(after_ms) ||
          (startTimeMs === Number(after_ms) && gapId > String(after_id)),
      );
  }

  firstQuotes(marketIds: unknown): { marketId: string; timeMs: number }[] {
    const first = new Map<string, number>();
    for (const { marketId, receivedTimeMs, trusted } of this.#store.inserted('quote'))
      if (trusted && isAmong(marketIds, marketId))
        first.set(marketId, Math.min(receivedTimeMs, first.get(marketId) ?? Number.POSITIVE_INFINITY));
    return [...first].map(([marketId, timeMs]) => ({ marketId, timeMs }));
  }

  /** The rows of `findBook`: trusted unless a gap contains the row or the time. */
  #bookInForce({ market_id, at_ms }: Params): Buffer[] {
    const atMs = Number(at_ms);
    const book = this.#books(market_id)
      .filter(({ eventTimeMs }) => eventTimeMs <= atMs)
      .at(-1);
    if (book === undefined) return [];
    const isCovered = this.gapsIn({ market_id }).some(
      (gap) =>
        isInGap(book, gap) || (gap.startTimeMs < atMs && atMs < (gap.endTimeMs ?? Number.POSITIVE_INFINITY)),
    );
    return [nativeBook(book, { trusted: book.trusted && !isCovered })];
  }

  /** The rows of `plainRows`, each with its key, and one row beyond the page. */
  #pageOfBooks(query: string, params: Params): Buffer[] {
    const { market_id, range_start, range_end, after_ms, after_seq, limit, offset, depth } = params;
    const isDescending = query.includes('DESC');
    const gaps = this.gapsIn({ market_id });
    const revision = Math.max(
      0,
      ...this.#store.inserted('gap').flatMap((gap) => (gap.marketId === market_id ? [gap.seq] : [])),
    );
    const isAfter = ({ eventTimeMs, seq }: BookRecord) => {
      const order = eventTimeMs - Number(after_ms) || seq - Number(after_seq);
      return after_ms === undefined || (isDescending ? order < 0 : order > 0);
    };
    const books = this.#books(market_id)
      .filter(({ eventTimeMs }) => range_start === undefined || eventTimeMs >= Number(range_start))
      .filter(({ eventTimeMs }) => range_end === undefined || eventTimeMs < Number(range_end))
      .filter(isAfter);
    if (isDescending) books.reverse();
    const from = Number(offset);
    return books.slice(from, from + Number(limit) + 1).map((book) => {
      const trusted = book.trusted && !gaps.some((gap) => isInGap(book, gap));
      const levels = depth === undefined ? Number.POSITIVE_INFINITY : Number(depth);
      return nativeBook(book, { trusted, levels, key: [book.seq, revision] });
    });
  }

  /** Of a market, in the order of time and number. */
  #books(marketId: unknown): BookRecord[] {
    return this.#store
      .inserted('book')
      .filter((book) => book.marketId === marketId)
      .sort((a, b) => a.eventTimeMs - b.eventTimeMs || a.seq - b.seq);
  }

  async #answer<T>(read: () => T): Promise<T> {
    await this.#half();
    if (this.#store.faults.isEngineAway) {
      await new Promise<void>((resolve) => this.#clock.after(GIVEN_UP_MS, resolve));
      throw new StoreUnavailableError('the engine is away');
    }
    const answer = read();
    await this.#half();
    return answer;
  }

  #half(): Promise<void> {
    const lastsMs = HALF_MS_MIN + this.#random.below(HALF_MS_RANGE);
    return new Promise((resolve) => this.#clock.after(lastsMs, () => resolve()));
  }
}

function isAmong(list: unknown, name: string): boolean {
  return (list as readonly string[]).includes(name);
}

function gapRow(gap: Gap): object {
  return {
    gap_id: gap.gapId,
    start: formatTime(gap.startTimeMs),
    end: formatTimeOrNull(gap.endTimeMs),
    start_received: formatTime(gap.startReceivedMs),
    end_received: formatTimeOrNull(gap.endReceivedMs),
    cause: gap.cause,
    feed: gap.feed,
    repaired_by: gap.repairedBy,
  };
}

/** One book as the engine sends it. @param key Sent behind its columns. */
function nativeBook(
  { eventTimeMs, mirrored, underlyingPrice, yes, no }: BookRecord,
  options: { trusted: boolean; levels?: number; key?: readonly number[] },
): Buffer {
  const { trusted, levels = Number.POSITIVE_INFINITY, key = null } = options;
  const side = ({ count, prices, sizes }: SideView): [number, number][] =>
    Array.from({ length: Math.min(count, levels) }, (_, at) => [
      prices[at] as number,
      (sizes[at] as number) / UNIT,
    ]);
  const sides = [side(yes.bids), side(yes.asks), side(no.bids), side(no.asks)];
  const book = { timeMs: eventTimeMs, trusted, mirrored, underlying: underlyingPrice, wide: false, sides };
  return nativeBooks([book], key);
}
