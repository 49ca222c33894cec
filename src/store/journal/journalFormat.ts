/**
 * The bytes of a journal segment. The journal holds the encoded rows, not the venue's frames: replay then needs no book
 * state and no deterministic code upstream, and sends the engine exactly the original bytes.
 *
 * A segment is a header (magic, length, JSON naming each table's insert target) and chunks. A chunk holds the rows that
 * one table gained since the last write: a fixed head, then seqs, row ends, days, and the rows. Its CRC covers all of
 * it, so a chunk cut short by a crash is recognised. Every chunk of a write except the last is marked "more follow": a
 * write that was cut short counts for no table. Otherwise a kill could leave a book and lose a trade before it, and the
 * gap, which begins at the last stored book, would not cover the trade.
 */
import { crc32 } from 'node:zlib';
import { TABLE_NAMES, type TableName } from '../tables/schema.ts';
import { RowBuffer } from './rowBuffer.ts';

const SEGMENT_MAGIC = 0x31_4a_52_55;
const CHUNK_MAGIC = 0x4b_48_43_55;
const SEGMENT_HEAD_BYTES = 8;
const CHUNK_HEAD_BYTES = 48;
/** Added to a chunk's table number when further chunks of the same write follow. */
const MORE_FOLLOW = 0x80_00_00_00;
/** Offset of the checksum in the head; it covers the rest of the chunk. */
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

/** Rows that one table gained since the last write. */
export interface NewRows {
  readonly table: TableName;
  readonly rows: RowBuffer;
  readonly fromRow: number;
}

/**
 * Encodes the rows of one write as the pieces of its chunks. The pieces are views: write them before the buffers are
 * reset.
 */
export function encodeWrite(gained: readonly NewRows[], writtenTimeMs: number): Buffer[] {
  return gained.flatMap((table, index) =>
    encodeChunk(table, { writtenTimeMs, moreFollow: index < gained.length - 1 }),
  );
}

function encodeChunk(
  { table, rows, fromRow }: NewRows,
  { writtenTimeMs, moreFollow }: { writtenTimeMs: number; moreFollow: boolean },
): Buffer[] {
  const count = rows.rows - fromRow;
  const start = fromRow === 0 ? 0 : (rows.ends[fromRow - 1] as number);
  const end = rows.ends[rows.rows - 1] as number;
  const head = Buffer.alloc(CHUNK_HEAD_BYTES);
  head.writeUInt32LE(CHUNK_MAGIC, 0);
  head.writeUInt32LE(TABLE_NAMES.indexOf(table) + (moreFollow ? MORE_FOLLOW : 0), 4);
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

/** What a segment contains besides its rows. */
export interface SegmentSummary {
  readonly targets: Targets;
  /** Bytes at the end that are not a complete write. */
  readonly tornBytes: number;
  /** When the first and the last complete chunk were written; null without one. */
  readonly firstTimeMs: number | null;
  readonly lastTimeMs: number | null;
}

export interface ParsedSegment extends SegmentSummary {
  readonly tables: ReadonlyMap<TableName, RowBuffer>;
}

/** Reads the complete writes of a segment; a file without a complete header has no rows and counts as torn. */
export function parseSegment(file: Buffer): ParsedSegment {
  const tables = new Map<TableName, RowBuffer>();
  const summary = readChunks(file, (chunk) => {
    const rows = tables.get(chunk.table) ?? new RowBuffer();
    tables.set(chunk.table, rows);
    for (let row = 0; row < chunk.rows; row++) {
      const [start, end] = [chunk.start(row), chunk.end(row)];
      rows.appendEncoded(file, { start, end, seq: chunk.seq(row), day: chunk.day(row) });
    }
    rows.timeMsMin = Math.min(rows.timeMsMin, chunk.timeMsMin);
    rows.timeMsMax = Math.max(rows.timeMsMax, chunk.timeMsMax);
  });
  return { ...summary, tables };
}

/** Calls `onChunk` with each chunk of the complete writes of a segment, in file order. */
export function readChunks(
  file: Buffer,
  onChunk: (chunk: JournalChunk, targets: Targets) => void,
): SegmentSummary {
  const head = parseHead(file);
  if (!head) return { targets: {}, tornBytes: file.length, firstTimeMs: null, lastTimeMs: null };
  const { targets } = head;
  let at = head.length;
  let wholeLength = at;
  let chunks: JournalChunk[] = [];
  let firstTimeMs: number | null = null;
  let lastTimeMs: number | null = null;
  for (;;) {
    const length = wholeChunkLength(file, at);
    if (length === null) break;
    const chunk = new JournalChunk(file, at);
    chunks.push(chunk);
    at += length;
    if (chunk.moreFollow) continue;
    for (const one of chunks) onChunk(one, targets);
    chunks = [];
    wholeLength = at;
    lastTimeMs = chunk.writtenTimeMs;
    firstTimeMs ??= lastTimeMs;
  }
  return { targets, tornBytes: file.length - wholeLength, firstTimeMs, lastTimeMs };
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

/** The rows of a complete chunk, read in place from the file. */
export class JournalChunk {
  readonly file: Buffer;
  readonly table: TableName;
  /** Whether another chunk of the same write follows. */
  readonly moreFollow: boolean;
  readonly rows: number;
  /** Size of the rows in bytes. */
  readonly bytes: number;
  readonly writtenTimeMs: number;
  /** Bounds of `ts` over the rows of the table so far. */
  readonly timeMsMin: number;
  readonly timeMsMax: number;
  readonly #seqsAt: number;
  readonly #endsAt: number;
  readonly #daysAt: number;
  readonly #bytesAt: number;
  /** Row ends count from the table's first row, which is in an earlier chunk. */
  readonly #bytesBefore: number;

  /** @throws {RangeError} When the chunk names a table that does not exist. */
  constructor(file: Buffer, at: number) {
    const named = file.readUInt32LE(at + 4);
    this.moreFollow = named >= MORE_FOLLOW;
    const table = TABLE_NAMES[named % MORE_FOLLOW];
    if (table === undefined) throw new RangeError('a journal chunk names a table that does not exist');
    this.file = file;
    this.table = table;
    this.rows = file.readUInt32LE(at + 8);
    this.bytes = file.readUInt32LE(at + 12);
    this.writtenTimeMs = file.readDoubleLE(at + 16);
    this.timeMsMin = file.readDoubleLE(at + 24);
    this.timeMsMax = file.readDoubleLE(at + 32);
    this.#bytesBefore = file.readUInt32LE(at + 40);
    this.#seqsAt = at + CHUNK_HEAD_BYTES;
    this.#endsAt = this.#seqsAt + this.rows * 8;
    this.#daysAt = this.#endsAt + this.rows * 4;
    this.#bytesAt = this.#daysAt + this.rows * 4;
  }

  seq(row: number): number {
    return this.file.readDoubleLE(this.#seqsAt + row * 8);
  }

  day(row: number): number {
    return this.file.readInt32LE(this.#daysAt + row * 4);
  }

  start(row: number): number {
    return row === 0 ? this.#bytesAt : this.end(row - 1);
  }

  end(row: number): number {
    return this.#bytesAt + this.file.readUInt32LE(this.#endsAt + row * 4) - this.#bytesBefore;
  }
}
