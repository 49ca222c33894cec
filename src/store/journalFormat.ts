/**
 * The bytes of a journal segment. What is journalled is the encoded rows themselves, not the venue's frames:
 * replay then needs no book state and no determinism of anything upstream, and gives the engine the very bytes
 * it would have got.
 *
 * A segment is a header (magic, length, JSON naming each table's insert target) and chunks. A chunk holds the
 * rows one table gained since the last write: a fixed head, then seqs, row ends, days, and the rows. Its CRC covers all of
 * it, so a chunk that was cut short by a crash is recognised, and everything from it on is dropped.
 */
import { crc32 } from 'node:zlib';
import { RowBuffer } from './rowBuffer.ts';
import { TABLE_NAMES, type TableName } from './schema.ts';

const SEGMENT_MAGIC = 0x31_4a_52_55;
const CHUNK_MAGIC = 0x4b_48_43_55;
const SEGMENT_HEAD_BYTES = 8;
const CHUNK_HEAD_BYTES = 48;
/** Where the checksum stands in the head; everything else of the chunk is summed. */
const CRC_AT = 44;
const ROW_INDEX_BYTES = 8 + 4 + 4;

export type Targets = Readonly<Record<string, string>>;

export function encodeSegmentHead(targets: Targets): Buffer {
  const json = Buffer.from(JSON.stringify({ targets }), 'utf8');
  const head = Buffer.alloc(SEGMENT_HEAD_BYTES);
  head.writeUInt32LE(SEGMENT_MAGIC, 0);
  head.writeUInt32LE(json.length, 4);
  return Buffer.concat([head, json]);
}

/** The rows of `rows` from `fromRow` on, as the pieces of one chunk (views: write them before the buffer is reset). */
export function encodeChunk(
  table: TableName,
  rows: RowBuffer,
  fromRow: number,
  writtenTimeMs: number,
): Buffer[] {
  const count = rows.rows - fromRow;
  const start = fromRow === 0 ? 0 : (rows.ends[fromRow - 1] as number);
  const end = rows.ends[rows.rows - 1] as number;
  const head = Buffer.alloc(CHUNK_HEAD_BYTES);
  head.writeUInt32LE(CHUNK_MAGIC, 0);
  head.writeUInt32LE(TABLE_NAMES.indexOf(table), 4);
  head.writeUInt32LE(count, 8);
  head.writeUInt32LE(end - start, 12);
  head.writeDoubleLE(writtenTimeMs, 16);
  head.writeDoubleLE(rows.timeMsMin, 24);
  head.writeDoubleLE(rows.timeMsMax, 32);
  head.writeUInt32LE(start, 40);
  const pieces = [
    head,
    bytesOf(rows.seqs.subarray(fromRow, rows.rows)),
    bytesOf(rows.ends.subarray(fromRow, rows.rows)),
    bytesOf(rows.days.subarray(fromRow, rows.rows)),
    rows.bytes.subarray(start, end),
  ];
  let sum = crc32(head.subarray(0, CRC_AT));
  for (const piece of pieces.slice(1)) sum = crc32(piece, sum);
  head.writeUInt32LE(sum, CRC_AT);
  return pieces;
}

function bytesOf(array: Float64Array | Uint32Array | Int32Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}

export interface ParsedSegment {
  readonly targets: Targets;
  readonly tables: ReadonlyMap<TableName, RowBuffer>;
  /** Bytes at the end that are not whole chunks. */
  readonly tornBytes: number;
  /** When the last whole chunk was written; null when there is none. */
  readonly lastTimeMs: number | null;
}

/** Reads a segment as far as it is whole; a file without a whole header has no rows and is all torn. */
export function parseSegment(file: Buffer): ParsedSegment {
  const tables = new Map<TableName, RowBuffer>();
  const head = parseHead(file);
  if (!head) return { targets: {}, tables, tornBytes: file.length, lastTimeMs: null };
  let at = head.length;
  let lastTimeMs: number | null = null;
  for (;;) {
    const length = wholeChunkLength(file, at);
    if (length === null) break;
    lastTimeMs = readChunk(file, at, tables);
    at += length;
  }
  return { targets: head.targets, tables, tornBytes: file.length - at, lastTimeMs };
}

function parseHead(file: Buffer): { targets: Targets; length: number } | null {
  if (file.length < SEGMENT_HEAD_BYTES || file.readUInt32LE(0) !== SEGMENT_MAGIC) return null;
  const length = SEGMENT_HEAD_BYTES + file.readUInt32LE(4);
  if (file.length < length) return null;
  const json = JSON.parse(file.toString('utf8', SEGMENT_HEAD_BYTES, length)) as { targets: Targets };
  return { targets: json.targets, length };
}

function wholeChunkLength(file: Buffer, at: number): number | null {
  if (file.length < at + CHUNK_HEAD_BYTES || file.readUInt32LE(at) !== CHUNK_MAGIC) return null;
  const payload = file.readUInt32LE(at + 8) * ROW_INDEX_BYTES + file.readUInt32LE(at + 12);
  const end = at + CHUNK_HEAD_BYTES + payload;
  if (file.length < end) return null;
  const sum = crc32(file.subarray(at + CHUNK_HEAD_BYTES, end), crc32(file.subarray(at, at + CRC_AT)));
  return sum === file.readUInt32LE(at + CRC_AT) ? CHUNK_HEAD_BYTES + payload : null;
}

/** Adds a whole chunk's rows to its table; returns when it was written. */
function readChunk(file: Buffer, at: number, tables: Map<TableName, RowBuffer>): number {
  const name = TABLE_NAMES[file.readUInt32LE(at + 4)];
  if (name === undefined) throw new RangeError('a journal chunk names a table that does not exist');
  const rows = tables.get(name) ?? new RowBuffer();
  tables.set(name, rows);
  const count = file.readUInt32LE(at + 8);
  const startOfRows = file.readUInt32LE(at + 40);
  const seqsAt = at + CHUNK_HEAD_BYTES;
  const endsAt = seqsAt + count * 8;
  const daysAt = endsAt + count * 4;
  const bytesAt = daysAt + count * 4;
  let from = 0;
  for (let i = 0; i < count; i++) {
    const to = file.readUInt32LE(endsAt + i * 4) - startOfRows;
    rows.appendEncoded(file, {
      start: bytesAt + from,
      end: bytesAt + to,
      seq: file.readDoubleLE(seqsAt + i * 8),
      day: file.readInt32LE(daysAt + i * 4),
    });
    from = to;
  }
  rows.timeMsMin = Math.min(rows.timeMsMin, file.readDoubleLE(at + 24));
  rows.timeMsMax = Math.max(rows.timeMsMax, file.readDoubleLE(at + 32));
  return file.readDoubleLE(at + 16);
}
