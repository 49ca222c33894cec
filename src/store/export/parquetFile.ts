/**
 * One Parquet file from several with the same columns. Row groups are copied as they are; only the footer, which comes
 * last and says where each row group is, is written again. So the file may have any length, and this process keeps the
 * footer and one part of it.
 *
 * Field numbers are those of `parquet.thrift`:
 * https://github.com/apache/parquet-format/blob/master/src/main/thrift/parquet.thrift (read 2026-11-23).
 */
import { open } from 'node:fs/promises';
import { StoreUnavailableError } from '../../runtime/errors.ts';
import {
  readStruct,
  type ThriftStruct,
  type ThriftValue,
  textPairs,
  writeStruct,
  writeStructList,
  writeStructWith,
} from './thrift.ts';

const MAGIC = Buffer.from('PAR1');
/** The footer's length and the magic, after the footer. */
const TAIL_BYTES = 8;

const FILE = { rows: 3, rowGroups: 4, metadata: 5 } as const;
const ROW_GROUP = { columns: 1, fileOffset: 5, ordinal: 7 } as const;
const CHUNK = { fileOffset: 2, metadata: 3, indexes: [4, 5, 6, 7] } as const;
const METADATA = { offsets: [9, 10, 11], bloomFilter: [14, 15] } as const;

export class ParquetJoiner {
  #at = MAGIC.length;
  #rows = 0n;
  /** Of the first file; its schema is that of all others. */
  #footer: ThriftStruct | null = null;
  readonly #rowGroups: Buffer[] = [];

  get rows(): number {
    return Number(this.#rows);
  }

  /**
   * Adds the rows of a complete Parquet file.
   * @returns The bytes to write next.
   * @throws {StoreUnavailableError} If it is not a complete Parquet file.
   */
  add(file: Buffer): Buffer {
    const { data, footer } = partsOf(file);
    const isFirst = this.#footer === null;
    const shift = BigInt(this.#at - MAGIC.length);
    for (const group of listOf(footer, FILE.rowGroups)) {
      moveRowGroup(group, shift);
      this.#rowGroups.push(writeStruct(group));
    }
    this.#rows += integer(footer, FILE.rows);
    if (isFirst) {
      footer.delete(FILE.rowGroups);
      this.#footer = footer;
    }
    this.#at += data.length;
    return isFirst ? Buffer.concat([MAGIC, data]) : data;
  }

  /** The end of the file. @throws {TypeError} Before the first `add`, which is a defect of the program. */
  end(): Buffer {
    if (this.#footer === null) throw new TypeError('a Parquet file needs the schema of one part');
    set(this.#footer, FILE.rows, this.#rows);
    const rowGroups = { type: 'list', bytes: writeStructList(this.#rowGroups) } as const;
    return ended(writeStructWith(this.#footer, new Map([[FILE.rowGroups, rowGroups]])));
  }
}

/** Adds texts to the metadata of a complete Parquet file. */
export async function addMetadata(path: string, pairs: Readonly<Record<string, string>>): Promise<void> {
  const file = await open(path, 'r+');
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(TAIL_BYTES);
    await file.read(tail, 0, TAIL_BYTES, size - TAIL_BYTES);
    const start = size - TAIL_BYTES - tail.readUInt32LE(0);
    if (!tail.subarray(4).equals(MAGIC) || start < MAGIC.length)
      throw new StoreUnavailableError(`${path} is not a complete Parquet file`);
    const old = Buffer.alloc(size - TAIL_BYTES - start);
    await file.read(old, 0, old.length, start);
    const footer = readStruct(old).set(FILE.metadata, textPairs(pairs));
    const end = ended(writeStruct(footer));
    await file.write(end, 0, end.length, start);
    await file.truncate(start + end.length);
  } finally {
    await file.close();
  }
}

/** A footer with its length and the magic. */
function ended(footer: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([footer, length, MAGIC]);
}

function partsOf(file: Buffer): { data: Buffer; footer: ThriftStruct } {
  const end = file.length - TAIL_BYTES;
  const isWhole =
    end >= MAGIC.length &&
    file.subarray(0, MAGIC.length).equals(MAGIC) &&
    file.subarray(-MAGIC.length).equals(MAGIC);
  const start = isWhole ? end - file.readUInt32LE(end) : 0;
  if (start < MAGIC.length) throw new StoreUnavailableError('the store sent an incomplete Parquet file');
  return { data: file.subarray(MAGIC.length, start), footer: readStruct(file.subarray(start, end)) };
}

function moveRowGroup(group: ThriftStruct, shift: bigint): void {
  // A 16-bit number that readers do not need, and that a long file would exceed.
  group.delete(ROW_GROUP.ordinal);
  move(group, ROW_GROUP.fileOffset, shift);
  for (const chunk of listOf(group, ROW_GROUP.columns)) {
    move(chunk, CHUNK.fileOffset, shift);
    // Indexes are optional, and are outside of the row group.
    for (const field of CHUNK.indexes) chunk.delete(field);
    const metadata = chunk.get(CHUNK.metadata);
    if (metadata === undefined || !(metadata.value instanceof Map)) continue;
    for (const field of METADATA.bloomFilter) metadata.value.delete(field);
    for (const field of METADATA.offsets) move(metadata.value, field, shift);
  }
}

function listOf(struct: ThriftStruct, field: number): ThriftStruct[] {
  const list = struct.get(field);
  const values = list !== undefined && 'of' in list ? list.value : [];
  return values.flatMap((value: ThriftValue) => (value.value instanceof Map ? [value.value] : []));
}

function integer(struct: ThriftStruct, field: number): bigint {
  const found = struct.get(field);
  return found !== undefined && typeof found.value === 'bigint' ? found.value : 0n;
}

function set(struct: ThriftStruct, field: number, value: bigint): void {
  const found = struct.get(field);
  if (found !== undefined && typeof found.value === 'bigint') found.value = value;
}

/** An offset of 0 means that there is none. */
function move(struct: ThriftStruct, field: number, shift: bigint): void {
  const offset = integer(struct, field);
  if (offset > 0n) set(struct, field, offset + shift);
}
