/**
 * Hourly Parquet files of the PMXT archive: every market of the venue, without the hashes of books. The first layout (until
 * 2026-04-15) has a JSON text in `data`; the second has typed columns. Both list levels worst first. Prices and sizes are
 * decimals. `side` is the outcome YES or NO in the first layout, BUY or SELL in the second.
 * @see https://archive.pmxt.dev/docs/v2-data-overview, as described by a public adapter between both (read 2026-11-23)
 */
import { zstdDecompressSync } from 'node:zlib';
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
} from 'hyparquet';
import { parsePrice, parseSize } from '../../../core/money.ts';
import { InvalidInputError } from '../../../runtime/errors.ts';
import { systemReason } from '../../../runtime/systemReason.ts';
import type { ClobEvent, Levels, Side } from '../../../schema/events.ts';
import { normalMarketId } from '../../../schema/protocol.ts';
import { type ArchiveItem, type ArchiveReader, BadRowError } from './archiveItem.ts';

const LACKS = ['hash of each book', 'last trade price of books', 'which rows are one action of the venue'];
const LACKS_V1 = [...LACKS, 'trades', 'changes of the tick size'];
const LACKS_V2 = [...LACKS, 'which token is YES: the first one seen is taken for it'];
/** Rows of one read: a row group of these files may have millions. */
const ROWS_AT_ONCE = 100_000;
const V1_COLUMNS = ['timestamp_received', 'timestamp_created_at', 'market_id', 'update_type', 'data'];
const V2_COLUMNS = [
  'timestamp_received',
  'timestamp',
  'market',
  'event_type',
  'asset_id',
  'bids',
  'asks',
  'price',
  'size',
  'side',
];

type Row = Readonly<Record<string, unknown>>;

/**
 * @param markets Only these; null: all.
 * @returns Null if the columns are those of no known layout.
 * @throws {InvalidInputError} If the file cannot be read, or is damaged; of its rows, once they are read.
 */
export async function openPmxt(
  file: string,
  markets: ReadonlySet<string> | null,
): Promise<ArchiveReader | null> {
  const buffer = await readable(file, asyncBufferFromFile(file));
  const metadata = await readable(file, parquetMetadataAsync(buffer));
  const names = new Set(metadata.schema.slice(1).map(({ name }) => name));
  const has = (columns: readonly string[]) => columns.every((name) => names.has(name));
  const isV1 = has(V1_COLUMNS);
  if (!isV1 && !has(V2_COLUMNS)) return null;
  const read = isV1 ? itemOfV1 : itemOfV2;
  const columns = isV1
    ? V1_COLUMNS
    : [...V2_COLUMNS, ...['transaction_hash', 'new_tick_size'].filter((name) => names.has(name))];
  return {
    layout: isV1 ? 'PMXT v1' : 'PMXT v2',
    lacks: isV1 ? LACKS_V1 : LACKS_V2,
    items: items(rowsOf(file, { buffer, metadata, columns }), { read, markets }),
  };
}

async function* rowsOf(
  name: string,
  { buffer: file, metadata, columns }: { buffer: AsyncBuffer; metadata: FileMetaData; columns: string[] },
): AsyncGenerator<Row> {
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };
  const rows = Number(metadata.num_rows);
  for (let rowStart = 0; rowStart < rows; rowStart += ROWS_AT_ONCE) {
    const rowEnd = Math.min(rows, rowStart + ROWS_AT_ONCE);
    const part = { file, metadata, columns, rowStart, rowEnd, compressors };
    yield* await readable(name, parquetReadObjects(part));
  }
}

/** The library's messages name no file, and few of them say that it is damaged. */
async function readable<T>(file: string, reading: Promise<T>): Promise<T> {
  try {
    return await reading;
  } catch (cause) {
    const isSystems = (cause as NodeJS.ErrnoException).syscall !== undefined;
    const what = isSystems ? '' : 'no Parquet file, or a damaged one: ';
    throw new InvalidInputError(`cannot read ${file}: ${what}${systemReason(cause)}`, { cause });
  }
}

async function* items(
  rows: AsyncIterable<Row>,
  {
    read,
    markets,
  }: { read: (row: Row, marketId: string) => ArchiveItem; markets: ReadonlySet<string> | null },
): AsyncGenerator<ArchiveItem> {
  let row = 0;
  for await (const cells of rows) {
    row++;
    try {
      const marketId = normalMarketId(text(cells.market_id ?? cells.market, 'market'));
      if (markets !== null && !markets.has(marketId)) yield { kind: 'unused', reason: 'other markets' };
      else yield read(cells, marketId);
    } catch (error) {
      if (!(error instanceof BadRowError)) throw error;
      yield { kind: 'bad', row, reason: error.message };
    }
  }
}

function itemOfV1(cells: Row, marketId: string): ArchiveItem {
  const data = jsonOf(cells.data, 'data') as Row;
  const isYes = data.side === 'YES' ? true : data.side === 'NO' ? false : null;
  if (isYes === null) throw new BadRowError('side is neither YES nor NO');
  const at = {
    marketId,
    eventTimeMs: Math.round(number(data.timestamp, 'timestamp') * 1000),
    receivedTimeMs: time(cells.timestamp_received, 'timestamp_received'),
  };
  const tokenId = text(data.token_id, 'token_id');
  if (cells.update_type === 'book_snapshot') {
    const sides = { bids: levels(data.bids, 'bids'), asks: levels(data.asks, 'asks') };
    return { kind: 'clob', isYes, event: snapshot({ ...at, tokenId, ...sides }) };
  }
  if (cells.update_type !== 'price_change')
    throw new BadRowError(`update_type ${String(cells.update_type).slice(0, 40)}`);
  const level = { price: data.change_price, size: data.change_size, side: data.change_side };
  return { kind: 'clob', isYes, event: change({ ...at, tokenId, level }) };
}

function itemOfV2(cells: Row, marketId: string): ArchiveItem {
  const at = {
    marketId,
    eventTimeMs: time(cells.timestamp, 'timestamp'),
    receivedTimeMs: time(cells.timestamp_received, 'timestamp_received'),
  };
  const tokenId = text(cells.asset_id, 'asset_id');
  const clob = (event: ClobEvent): ArchiveItem => ({ kind: 'clob', isYes: null, event });
  switch (cells.event_type) {
    case 'book': {
      const sides = { bids: levels(cells.bids, 'bids'), asks: levels(cells.asks, 'asks') };
      return clob(snapshot({ ...at, tokenId, ...sides }));
    }
    case 'price_change':
      return clob(change({ ...at, tokenId, level: cells }));
    case 'last_trade_price': {
      const hash = cells.transaction_hash;
      const transactionHash = typeof hash === 'string' && hash !== '' ? hash : null;
      return clob({ kind: 'trade', ...at, tokenId, ...levelOf(cells), transactionHash });
    }
    case 'tick_size_change':
      return clob({ kind: 'tick_size_change', ...at, tokenId, tickSize: decimal(cells.new_tick_size) });
    default:
      throw new BadRowError(`event_type ${String(cells.event_type).slice(0, 40)}`);
  }
}

interface Place {
  readonly marketId: string;
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  readonly tokenId: string;
}

function snapshot({ bids, asks, ...at }: Place & { bids: Levels; asks: Levels }): ClobEvent {
  return {
    kind: 'book_snapshot',
    ...at,
    bids,
    asks,
    hash: null,
    tickSize: null,
    lastTradePrice: null,
    version: null,
  };
}

function change({ tokenId, level, ...at }: Place & { level: Row }): ClobEvent {
  // The announced best prices are no proof here: only a hash is.
  const announced = { hash: null, announcesBest: false, bestBid: null, bestAsk: null };
  return { kind: 'book_change', ...at, changes: [{ tokenId, ...levelOf(level), ...announced }] };
}

function levelOf({ price, size, side }: Row): { price: number; size: number; side: Side } {
  if (side !== 'BUY' && side !== 'SELL') throw new BadRowError('side is neither BUY nor SELL');
  return { price: ticks(price), size: units(size), side };
}

function levels(value: unknown, name: string): Levels {
  const list = typeof value === 'string' ? jsonOf(value, name) : value;
  if (!Array.isArray(list)) throw new BadRowError(`${name} is no list of levels`);
  return { prices: list.map((level) => ticks(level?.[0])), sizes: list.map((level) => units(level?.[1])) };
}

function ticks(value: unknown): number {
  const price = parsePrice(decimal(value));
  if (price === null) throw new BadRowError('price is no price from 0 to 1');
  return price;
}

function units(value: unknown): number {
  const size = parseSize(decimal(value));
  if (size === null) throw new BadRowError('size is no number of shares');
  return size;
}

/** Typed columns are numbers; JSON has texts. */
function decimal(value: unknown): string {
  if (typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value)))
    return String(value);
  throw new BadRowError('a price or size is missing');
}

function time(value: unknown, name: string): number {
  if (value instanceof Date) return value.getTime();
  throw new BadRowError(`${name} is no time`);
}

function number(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw new BadRowError(`${name} is no number`);
}

function text(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value;
  if (value instanceof Uint8Array) return Buffer.from(value).toString('latin1');
  throw new BadRowError(`${name} is missing`);
}

function jsonOf(value: unknown, name: string): unknown {
  try {
    return JSON.parse(String(value));
  } catch {
    throw new BadRowError(`${name} is no JSON`);
  }
}
