/** Rows of dead runs' journals that recording needs at its start, read from the files, not the engine. */
import type { UnderlyingEvent } from '../../schema/events.ts';
import type { Gap } from '../../schema/gap.ts';
import type { Market } from '../../schema/market.ts';
import { type ProvenRow, type StoredBook, type StoredBookRow, storedBook } from '../queries/resume.ts';
import { leadingStrings, type ReadRow, rowReader, rowsByKey, timeAfterKey } from '../tables/rowDecoder.ts';
import { TABLES, type TableName } from '../tables/schema.ts';
import type { JournalChunk, Targets } from './journalFormat.ts';
import { RowBuffer } from './rowBuffer.ts';

/** Rows of one table for one insert. */
interface TargetedRows {
  readonly table: TableName;
  readonly target: string;
  readonly rows: RowBuffer;
}

/** A record with its arrival number: of two records with one key the higher number counts. */
export type Numbered<T> = T & { readonly seq: number };

interface RowOrder {
  readonly eventTimeMs: number;
  readonly seq: number;
}

/** An encoded row. Its bytes are a view of a whole file until `kept` copies them. */
interface EncodedRow extends RowOrder {
  readonly table: TableName;
  readonly target: string;
  readonly bytes: Buffer;
}

/** Sizes in the narrow form are hundredths of a share. */
const HUNDREDTHS = 100;

export class WaitingRowIndex {
  readonly #readers = new Map<string, ReadRow>();
  readonly #lastBooks = new Map<string, EncodedRow>();
  readonly #lastProven = new Map<string, ProvenRow>();
  /** The newest row of each key, for replacing tables. */
  readonly #newest = new Map<string, EncodedRow>();
  readonly #prices = new Map<string, EncodedRow>();
  #isEmpty = true;
  readonly #pricesAfterMs: number;

  /** @param options.pricesAfterMs Older prices are ignored. */
  constructor({ pricesAfterMs }: { pricesAfterMs: number }) {
    this.#pricesAfterMs = pricesAfterMs;
  }

  /** Whether everything is in the engine. */
  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  add(chunk: JournalChunk, targets: Targets): void {
    this.#isEmpty = false;
    const target = targets[chunk.table] as string;
    if (TABLES[chunk.table].replacingBy !== null) this.#addNewest(chunk, target);
    else if (chunk.table === 'books' || chunk.table === 'quotes') this.#addBooks(chunk, target);
    else if (chunk.table === 'underlying') this.#addPrices(chunk, target);
  }

  /** The last waiting book of a market; null without one. */
  lastBook(marketId: string): StoredBook | null {
    const row = this.#lastBooks.get(rowPrefix(marketId));
    return row === undefined ? null : this.#book(row);
  }

  /** The newest verified row of a market (book or quote), by arrival, that waits to be stored; null without one. */
  lastProven(marketId: string): ProvenRow | null {
    return this.#lastProven.get(rowPrefix(marketId)) ?? null;
  }

  /** The newest waiting record of each market. */
  markets(): Numbered<Market>[] {
    const markets = this.#records('markets') as unknown as Numbered<Market>[];
    return markets.map(withOwnTakerDelay);
  }

  /** The newest waiting record of each gap, including closed ones. */
  gaps(): Numbered<Gap>[] {
    const gaps = this.#records('gaps') as unknown as Numbered<StoredGap>[];
    // Gaps of earlier releases have only one clock, the receive time.
    return gaps.map((gap) => ({
      ...gap,
      startReceivedMs: gap.startReceivedMs ?? gap.startTimeMs,
      endReceivedMs: gap.endReceivedMs ?? gap.endTimeMs,
    }));
  }

  /**
   * Prices whose own time is in (fromMs, toMs]. Trades come hundreds a second: only the last before each second's start
   * and before each second's end are returned.
   */
  prices({ fromMs, toMs }: { fromMs: number; toMs: number }): Numbered<UnderlyingEvent>[] {
    const bySeq = new Map([...this.#prices.values()].map((row) => [row.seq, row]));
    const rows = [...bySeq.values()].filter(({ eventTimeMs }) => eventTimeMs > fromMs && eventTimeMs <= toMs);
    return rows.map((row) => this.#price(row));
  }

  /** The newest rows of the replacing tables, without the rows they replace. */
  newest(): TargetedRows[] {
    const byTarget = new Map<string, TargetedRows>();
    for (const { table, target, bytes, seq } of this.#newest.values()) {
      const known = byTarget.get(target) ?? { table, target, rows: new RowBuffer() };
      byTarget.set(target, known);
      known.rows.appendEncoded(bytes, { start: 0, end: bytes.length, seq, day: 0 });
    }
    return [...byTarget.values()];
  }

  /** Frees the memory: everything is in the engine. */
  clear(): void {
    this.#isEmpty = true;
    this.#lastBooks.clear();
    this.#lastProven.clear();
    this.#newest.clear();
    this.#prices.clear();
  }

  #addNewest(chunk: JournalChunk, target: string): void {
    const { table, file } = chunk;
    for (let row = 0; row < chunk.rows; row++) {
      const strings = leadingStrings(file, chunk.start(row), TABLES[table].orderBy.length);
      const key = JSON.stringify([table, ...strings]);
      const seq = chunk.seq(row);
      if (seq >= (this.#newest.get(key)?.seq ?? 0))
        this.#newest.set(key, encodedRow(chunk, target, { row, eventTimeMs: 0, seq }));
    }
  }

  #addBooks(chunk: JournalChunk, target: string): void {
    const readTrust = this.#reader(chunk.table, target, 'trusted');
    for (const [key, rows] of rowsByKey(chunk, 1)) {
      if (chunk.table === 'books') this.#addLastBook(chunk, target, { key, rows });
      this.#addProven(chunk, readTrust, { key, rows });
    }
  }

  #addLastBook(chunk: JournalChunk, target: string, { key, rows }: RowGroup): void {
    let last: PlacedRow | null = null;
    for (const row of rows) {
      const placed = { row, eventTimeMs: timeAfterKey(chunk, row, key), seq: chunk.seq(row) };
      if (last === null || isLater(placed, last)) last = placed;
    }
    if (last !== null) keepIf(isLater, this.#lastBooks, key, encodedRow(chunk, target, last));
  }

  #addProven(chunk: JournalChunk, readTrust: ReadRow, { key, rows }: RowGroup): void {
    for (let index = rows.length - 1; index >= 0; index--) {
      const row = rows[index] as number;
      const seq = chunk.seq(row);
      if (seq < (this.#lastProven.get(key)?.seq ?? 0)) return;
      const { trusted, received } = readTrust(chunk.file, chunk.start(row)) as {
        trusted: boolean;
        received: number;
      };
      if (!trusted) continue;
      const eventTimeMs = timeAfterKey(chunk, row, key);
      this.#lastProven.set(key, { eventTimeMs, receivedTimeMs: received, seq });
      return;
    }
  }

  #addPrices(chunk: JournalChunk, target: string): void {
    for (const [key, rows] of rowsByKey(chunk, 2)) {
      const isTrade = key.endsWith('_spot');
      const isBetter = isTrade ? isLater : isEarlier;
      const best = new Map<number, PlacedRow>();
      for (const row of rows) {
        const eventTimeMs = timeAfterKey(chunk, row, key);
        if (eventTimeMs <= this.#pricesAfterMs) continue;
        const placed = { row, eventTimeMs, seq: chunk.seq(row) };
        for (const point of pointsOf(eventTimeMs, isTrade)) keepIf(isBetter, best, point, placed);
      }
      for (const [point, row] of best)
        keepIf(isBetter, this.#prices, `${key}${point}`, encodedRow(chunk, target, row));
    }
  }

  #price(row: EncodedRow): Numbered<UnderlyingEvent> {
    const { ticker, source, price, ts, received, seq } = this.#read(row) as unknown as PriceRow;
    return { kind: 'underlying', ticker, source, price, eventTimeMs: ts, receivedTimeMs: received, seq };
  }

  #book(encoded: EncodedRow): StoredBook {
    const row = this.#read(encoded) as unknown as EncodedBookRow;
    const shares = (side: SideName) =>
      row.wide ? row[`${side}_szw`] : row[`${side}_sz`].map((size) => size / HUNDREDTHS);
    return storedBook({
      ...row,
      marketId: row.market_id,
      eventTimeMs: row.ts,
      receivedTimeMs: row.received,
      underlyingPrice: row.underlying,
      yes_bid_shares: shares('yes_bid'),
      yes_ask_shares: shares('yes_ask'),
      no_bid_shares: shares('no_bid'),
      no_ask_shares: shares('no_ask'),
    });
  }

  #records(wanted: TableName): Record<string, unknown>[] {
    const rows = [...this.#newest.values()].filter(({ table }) => table === wanted);
    return rows.map((row) => recordOf(wanted, this.#read(row)));
  }

  #read({ table, target, bytes }: EncodedRow): Record<string, unknown> {
    return this.#reader(table, target)(bytes, 0);
  }

  #reader(table: TableName, target: string, through?: string): ReadRow {
    const key = `${target} ${through}`;
    const read = this.#readers.get(key) ?? rowReader(table, target, through);
    this.#readers.set(key, read);
    return read;
  }
}

interface PriceRow extends Pick<UnderlyingEvent, 'ticker' | 'source' | 'price'> {
  readonly ts: number;
  readonly received: number;
  readonly seq: number;
}

type StoredGap = Omit<Gap, 'startReceivedMs'> & { readonly startReceivedMs: number | null };

type SideName = 'yes_bid' | 'yes_ask' | 'no_bid' | 'no_ask';

type EncodedBookRow = Pick<StoredBookRow, 'seq' | 'trusted' | 'mirrored' | `${SideName}_px`> & {
  readonly market_id: string;
  readonly ts: number;
  readonly received: number;
  readonly underlying: number | null;
  readonly wide: boolean;
} & Record<`${SideName}_sz` | `${SideName}_szw`, number[]>;

/** A row of the chunk being read. */
interface PlacedRow extends RowOrder {
  readonly row: number;
}

/** Rows of a chunk that begin with the same strings. */
interface RowGroup {
  readonly key: string;
  readonly rows: readonly number[];
}

/** Whether `a` comes after `b` in a market's rows: by time, then by arrival. */
export function isLater(a: RowOrder, b: RowOrder): boolean {
  return a.eventTimeMs === b.eventTimeMs ? a.seq > b.seq : a.eventTimeMs > b.eventTimeMs;
}

function isEarlier(a: RowOrder, b: RowOrder): boolean {
  return isLater(b, a);
}

function keepIf<K, T extends RowOrder>(
  isBetter: (a: RowOrder, b: RowOrder) => boolean,
  rows: Map<K, T>,
  key: K,
  row: T,
): void {
  const known = rows.get(key);
  if (known === undefined || isBetter(row, known)) rows.set(key, row);
}

/**
 * Keys of the points that a price determines: a trade the seconds that begin and end with it, a relayed point its own
 * time.
 */
function pointsOf(eventTimeMs: number, isTrade: boolean): number[] {
  if (!isTrade) return [eventTimeMs];
  return [2 * Math.floor(eventTimeMs / 1000), 2 * Math.ceil(eventTimeMs / 1000) + 1];
}

/** Returns a copy: the original buffer is as large as a segment. */
function encodedRow(chunk: JournalChunk, target: string, { row, eventTimeMs, seq }: PlacedRow): EncodedRow {
  const bytes = Buffer.from(chunk.file.subarray(chunk.start(row), chunk.end(row)));
  return { table: chunk.table, target, bytes, eventTimeMs, seq };
}

/** The key of the rows that begin with a string. */
function rowPrefix(text: string): string {
  const buffer = new RowBuffer();
  buffer.reserve(text.length * 3 + 5);
  buffer.string(text);
  return buffer.bytes.toString('latin1', 0, buffer.length);
}

/**
 * The record of a row: `start_time` becomes `startTimeMs`. Columns that the writing release did not have are null, as
 * in the engine's answers.
 */
function recordOf(table: TableName, row: Record<string, unknown>): Record<string, unknown> {
  const columns = TABLES[table].columns.map(({ name, type }): [string, unknown] => {
    const field = name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
    return [type.includes('DateTime64') ? `${field}Ms` : field, row[name] ?? null];
  });
  return Object.fromEntries(columns);
}

/** As `ownTakerDelay` of stored rows: without a source, any value but 0 is the table's of an earlier release. */
function withOwnTakerDelay(market: Numbered<Market>): Numbered<Market> {
  const { takerDelaySource = null, takerDelayMs } = market;
  return takerDelaySource === null && takerDelayMs !== 0 ? { ...market, takerDelayMs: null } : market;
}
