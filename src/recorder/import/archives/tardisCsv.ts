/**
 * CSV files of Tardis.dev: books and trades of perpetual and spot venues. Times are microseconds; amounts are absolute;
 * an amount of 0 removes the level. Rows before the first snapshot are skipped; a snapshot after updates replaces the book.
 * @see https://docs.tardis.dev/downloadable-csv-files/data-types (read 2026-11-23)
 */
import { multiplyDecimals } from '../../../core/money.ts';
import type { PerpVenueName, UnderlyingSource } from '../../../schema/events.ts';
import { TICKERS, type Ticker } from '../../../schema/market.ts';
import { binanceSymbol } from '../../../venues/binance/mapper.ts';
import { bybitSymbol } from '../../../venues/bybit/mapper.ts';
import { coinbaseProduct } from '../../../venues/coinbase/mapper.ts';
import { type DepthLevel, DepthSide } from '../../../venues/depthLadder.ts';
import { HYPERLIQUID_COINS } from '../../../venues/hyperliquid/mapper.ts';
import { OKX_SWAPS } from '../../../venues/okx/messages.ts';
import { type ArchiveItem, type ArchiveReader, BadRowError } from './archiveItem.ts';
import { LINE_CHARS_MAX, type TextLine, textLines } from './textLines.ts';

/** Of perpetual depth; spot trades lack nothing. */
const DEPTH_LACKS = [
  'update_id of the venue: the arrival time in microseconds stands for it',
  'engine time',
  'round trip',
];
const US_PER_MS = 1000;
const DECIMAL = /^\d{1,15}(?:\.\d{1,15})?$/;

/** Exchanges of Tardis that are venues of perpetuals here, with their symbols. */
const PERPETUALS: Readonly<
  Record<string, { venue: PerpVenueName; symbolOf: (ticker: Ticker) => string | null }>
> = {
  bybit: { venue: 'bybit', symbolOf: bybitSymbol },
  'binance-futures': { venue: 'binance', symbolOf: binanceSymbol },
  'okex-swap': { venue: 'okx', symbolOf: (ticker) => OKX_SWAPS[ticker]?.instrument ?? null },
  hyperliquid: { venue: 'hyperliquid', symbolOf: (ticker) => HYPERLIQUID_COINS[ticker] },
};
/** Exchanges whose trades are prices of an underlying here. */
const SPOT: Readonly<
  Record<string, { source: UnderlyingSource; symbolOf: (ticker: Ticker) => string | null }>
> = {
  binance: { source: 'binance_spot', symbolOf: binanceSymbol },
  coinbase: { source: 'coinbase_spot', symbolOf: coinbaseProduct },
};

/** The columns that tell the layouts apart, and their readers. */
const LAYOUTS = [
  { name: 'incremental_book_L2', column: 'is_snapshot', lacks: DEPTH_LACKS, read: incrementalRows },
  { name: 'book_snapshot', column: 'asks[0].price', lacks: DEPTH_LACKS, read: snapshotRows },
  { name: 'trades', column: 'id', lacks: [], read: tradeRows },
] as const;

type Row = Readonly<Record<string, string>>;

/** @returns Null if the first line is not the head of such a file. */
export async function openTardis(file: string): Promise<ArchiveReader | null> {
  const lines = textLines(file);
  const head = await lines.next();
  const columns = head.done || head.value.wasCut ? [] : head.value.text.split(',');
  const isTardis = ['exchange', 'symbol', 'timestamp', 'local_timestamp'].every((name) =>
    columns.includes(name),
  );
  const layout = LAYOUTS.find(({ column }) => columns.includes(column));
  if (!isTardis || !layout) {
    // Closes the file.
    await lines.return(undefined);
    return null;
  }
  return { layout: `Tardis ${layout.name}`, lacks: layout.lacks, items: layout.read(rowsOf(lines, columns)) };
}

interface NumberedRow {
  readonly row: number;
  /** Null for a damaged line. */
  readonly cells: Row | null;
  readonly damage: string;
}

async function* rowsOf(
  lines: AsyncIterable<TextLine>,
  columns: readonly string[],
): AsyncGenerator<NumberedRow> {
  for await (const { number: row, text, wasCut } of lines) {
    if (text === '') continue;
    const cells = text.split(',');
    // No value of these files is quoted, so another number of cells is a damaged line.
    const isWhole = !wasCut && cells.length === columns.length;
    yield {
      row,
      cells: isWhole ? Object.fromEntries(columns.map((name, at) => [name, cells[at] as string])) : null,
      damage: wasCut ? `longer than ${LINE_CHARS_MAX} characters` : 'another number of cells than the head',
    };
  }
}

/** One venue's book of one ticker. */
class ArchivedBook {
  readonly bids = new DepthSide('bids');
  readonly asks = new DepthSide('asks');
  isKnown = false;
  wasSnapshot = false;
}

/** The rows of one message have one arrival time; together they are one book. */
async function* incrementalRows(rows: AsyncIterable<NumberedRow>): AsyncGenerator<ArchiveItem> {
  const books = new Map<string, ArchivedBook>();
  let message: { readonly key: string; readonly cells: Row } | null = null;
  for await (const { row, cells, damage } of rows) {
    const key = cells === null ? '' : `${cells.exchange} ${cells.symbol} ${cells.local_timestamp}`;
    if (message !== null && cells !== null && key !== message.key) {
      yield* bookOf(message.cells, books);
      message = null;
    }
    try {
      if (cells === null) throw new BadRowError(damage);
      if (perpetualOf(cells) === null) {
        yield { kind: 'unused', reason: `${cells.exchange} ${cells.symbol}` };
        continue;
      }
      timesOf(cells);
      if (applyUpdate(cells, books)) message = { key, cells };
      else yield { kind: 'unused', reason: 'before the first snapshot' };
    } catch (error) {
      yield badRow(row, error);
    }
  }
  if (message !== null) yield* bookOf(message.cells, books);
}

/** @returns False for an update before the first snapshot. */
function applyUpdate(cells: Row, books: Map<string, ArchivedBook>): boolean {
  const key = `${cells.exchange} ${cells.symbol}`;
  const book = books.get(key) ?? new ArchivedBook();
  books.set(key, book);
  const { is_snapshot: snapshot, side } = cells;
  if (snapshot !== 'true' && snapshot !== 'false')
    throw new BadRowError('is_snapshot is neither true nor false');
  if (side !== 'bid' && side !== 'ask') throw new BadRowError('side is neither bid nor ask');
  const level = levelOf(cells.price, cells.amount, cells);
  const isSnapshot = snapshot === 'true';
  if (isSnapshot && !book.wasSnapshot) {
    book.bids.clear();
    book.asks.clear();
  }
  book.wasSnapshot = isSnapshot;
  book.isKnown ||= isSnapshot;
  if (!book.isKnown) return false;
  (side === 'bid' ? book.bids : book.asks).apply([level]);
  return true;
}

function* bookOf(cells: Row, books: ReadonlyMap<string, ArchivedBook>): Generator<ArchiveItem> {
  const book = books.get(`${cells.exchange} ${cells.symbol}`);
  if (book) yield depth(cells, { bids: book.bids.top(), asks: book.asks.top() });
}

/** Whole books: columns `asks[0].price`, `asks[0].amount`, and so on for both sides; empty cells are absent levels. */
async function* snapshotRows(rows: AsyncIterable<NumberedRow>): AsyncGenerator<ArchiveItem> {
  for await (const { row, cells, damage } of rows) {
    try {
      if (cells === null) throw new BadRowError(damage);
      if (perpetualOf(cells) === null) yield { kind: 'unused', reason: `${cells.exchange} ${cells.symbol}` };
      else yield depth(cells, { bids: levelsOf(cells, 'bids'), asks: levelsOf(cells, 'asks') });
    } catch (error) {
      yield badRow(row, error);
    }
  }
}

function levelsOf(cells: Row, side: 'bids' | 'asks'): readonly DepthLevel[] {
  const ladder = new DepthSide(side);
  for (let at = 0; `${side}[${at}].price` in cells; at++) {
    const [price, amount] = [cells[`${side}[${at}].price`], cells[`${side}[${at}].amount`]];
    if (price === '' && amount === '') continue;
    ladder.apply([levelOf(price, amount, cells)]);
  }
  return ladder.top();
}

/** Trades of spot venues are prices of the underlying. No table has trades of perpetuals: they are counted. */
async function* tradeRows(rows: AsyncIterable<NumberedRow>): AsyncGenerator<ArchiveItem> {
  for await (const { row, cells, damage } of rows) {
    try {
      if (cells === null) throw new BadRowError(damage);
      const spot = SPOT[cells.exchange ?? ''];
      const ticker = TICKERS.find((one) => spot?.symbolOf(one) === cells.symbol);
      if (!spot || ticker === undefined) {
        const isPerpetual = perpetualOf(cells) !== null;
        yield {
          kind: 'unused',
          reason: isPerpetual ? 'trades of perpetuals' : `${cells.exchange} ${cells.symbol}`,
        };
        continue;
      }
      if (!DECIMAL.test(cells.price ?? '')) throw new BadRowError('price is no decimal');
      const price = Number(cells.price);
      yield {
        kind: 'underlying',
        event: { kind: 'underlying', ticker, source: spot.source, price, ...timesOf(cells) },
      };
    } catch (error) {
      yield badRow(row, error);
    }
  }
}

function depth(cells: Row, sides: { bids: readonly DepthLevel[]; asks: readonly DepthLevel[] }): ArchiveItem {
  const { venue, ticker } = perpetualOf(cells) as { venue: PerpVenueName; ticker: Ticker };
  const event = {
    kind: 'perp_depth',
    venue,
    ticker,
    updateId: Number(cells.local_timestamp),
    ...timesOf(cells),
  } as const;
  return { kind: 'perp_depth', event: { ...event, engineTimeMs: null, roundTripMs: null, ...sides } };
}

function perpetualOf({ exchange = '', symbol }: Row): { venue: PerpVenueName; ticker: Ticker } | null {
  const known = PERPETUALS[exchange];
  const ticker = TICKERS.find((one) => known?.symbolOf(one) === symbol);
  return known && ticker !== undefined ? { venue: known.venue, ticker } : null;
}

/** OKX counts contracts; all sizes here are coins. */
function levelOf(price: string | undefined, amount: string | undefined, cells: Row): DepthLevel {
  if (price === undefined || !DECIMAL.test(price)) throw new BadRowError('price is no decimal');
  if (amount === undefined || !DECIMAL.test(amount)) throw new BadRowError('amount is no decimal');
  const perpetual = perpetualOf(cells);
  if (perpetual?.venue !== 'okx') return [price, amount];
  return [price, multiplyDecimals(amount, OKX_SWAPS[perpetual.ticker]?.contractCoins as string)];
}

function timesOf(cells: Row): { eventTimeMs: number; receivedTimeMs: number } {
  const [event, received] = [cells.timestamp ?? '', cells.local_timestamp ?? ''];
  if (!/^\d{16}$/.test(event)) throw new BadRowError('timestamp is no time in microseconds');
  if (!/^\d{16}$/.test(received)) throw new BadRowError('local_timestamp is no time in microseconds');
  return {
    eventTimeMs: Math.floor(Number(event) / US_PER_MS),
    receivedTimeMs: Math.floor(Number(received) / US_PER_MS),
  };
}

function badRow(row: number, error: unknown): ArchiveItem {
  if (!(error instanceof BadRowError)) throw error;
  return { kind: 'bad', row, reason: error.message };
}
