/** Encodes a book row. This is the store's hottest path: one call for every recorded book change. */
import { sharesOf } from '../../core/money.ts';
import { HUNDREDTH, isNarrow } from '../../core/narrowSizes.ts';
import type { BookRecord, SideView } from '../../schema/records.ts';
import type { RowBuffer } from '../journal/rowBuffer.ts';

/** Bytes of a row except market id and levels: times, flags, lengths of twelve arrays. */
const FIXED_BYTES_MAX = 128;
/** A level's price and its size in the wide form. */
const LEVEL_BYTES_MAX = 10;

/** Appends one row in the column order of `books`. */
export function encodeBook(out: RowBuffer, record: BookRecord, isLate: boolean): void {
  const { yes, no, mirrored } = record;
  let levels = yes.bids.count + yes.asks.count;
  if (!mirrored) levels += no.bids.count + no.asks.count;
  out.reserve(FIXED_BYTES_MAX + record.marketId.length * 3 + levels * LEVEL_BYTES_MAX);
  const wide = !(
    isNarrow(yes.bids) &&
    isNarrow(yes.asks) &&
    (mirrored || (isNarrow(no.bids) && isNarrow(no.asks)))
  );
  out.string(record.marketId);
  out.i64(record.eventTimeMs);
  out.i64(record.seq);
  out.i64(record.receivedTimeMs);
  out.bool(record.trusted);
  out.bool(mirrored);
  out.nullableF64(record.underlyingPrice);
  out.bool(wide);
  prices(out, yes.bids);
  prices(out, yes.asks);
  if (mirrored) empty(out, 2);
  else {
    prices(out, no.bids);
    prices(out, no.asks);
  }
  if (wide) empty(out, 4);
  const write = wide ? wideSizes : narrowSizes;
  write(out, yes.bids);
  write(out, yes.asks);
  if (mirrored) empty(out, 2);
  else {
    write(out, no.bids);
    write(out, no.asks);
  }
  if (!wide) empty(out, 4);
  out.bool(isLate);
  out.endRow(record.seq, record.eventTimeMs);
}

function empty(out: RowBuffer, arrays: number): void {
  for (let i = 0; i < arrays; i++) out.u8(0);
}

function prices(out: RowBuffer, side: SideView): void {
  const { count } = side;
  out.varint(count);
  const { view } = out;
  let at = out.length;
  for (let i = 0; i < count; i++, at += 2) view.setUint16(at, side.prices[i] as number, true);
  out.length = at;
}

function narrowSizes(out: RowBuffer, side: SideView): void {
  const { count } = side;
  out.varint(count);
  const { view } = out;
  let at = out.length;
  for (let i = 0; i < count; i++, at += 4) {
    view.setUint32(at, Math.round((side.sizes[i] as number) / HUNDREDTH), true);
  }
  out.length = at;
}

function wideSizes(out: RowBuffer, side: SideView): void {
  out.varint(side.count);
  for (let i = 0; i < side.count; i++) out.f64(sharesOf(side.sizes[i] as number));
}
