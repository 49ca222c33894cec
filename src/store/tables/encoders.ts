import type { RecordKind, Records } from '../../schema/records.ts';
import type { RowBuffer } from '../journal/rowBuffer.ts';
import { encodeBook } from './encodeBook.ts';
import {
  encodeGap,
  encodeMarket,
  encodePerpDepth,
  encodeQuote,
  encodeTrade,
  encodeUnderlying,
} from './encodeRecords.ts';
import type { TableName } from './schema.ts';

interface Encoder<K extends RecordKind> {
  readonly table: TableName;
  /** Appends one row. @throws {InvalidInputError} When the record is not one that the table can hold. */
  readonly encode: (out: RowBuffer, record: Records[K], isLate: boolean) => void;
}

/** The table of each kind of record, and the encoder of its rows. */
export const ENCODERS: { readonly [K in RecordKind]: Encoder<K> } = {
  book: { table: 'books', encode: encodeBook },
  quote: { table: 'quotes', encode: encodeQuote },
  trade: { table: 'trades', encode: encodeTrade },
  underlying: { table: 'underlying', encode: encodeUnderlying },
  perpDepth: { table: 'perp_depth', encode: encodePerpDepth },
  market: { table: 'markets', encode: encodeMarket },
  gap: { table: 'gaps', encode: encodeGap },
};

/**
 * Appends one row to a table's buffer.
 * @param isLate No live consumer saw the record.
 * @throws {InvalidInputError} When the table cannot hold the record; the buffer is then unchanged.
 */
export function appendRecord<K extends RecordKind>(
  out: RowBuffer,
  kind: K,
  record: Records[K],
  isLate: boolean,
): void {
  const start = out.length;
  try {
    ENCODERS[kind].encode(out, record, isLate);
  } catch (error) {
    // An incomplete row would make all rows after it unreadable.
    out.length = start;
    throw error;
  }
}
