import { type FileHandle, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { orAtLimit } from '../../runtime/atLimit.ts';

const BATCH_FILE = 'batch';
const RECORD_BYTES = 12;
const CRC_AT = 8;

/** Segments of one run that are inserted together, both ends included. */
export interface SegmentRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Records the joined batch being inserted, in a file of the run's directory. The batch's token follows from the range.
 * Recovery therefore sends the same rows under the same token, and an insert that a dead process left running in a
 * living engine is not stored twice. A segment that is inserted alone needs no note: recovery sends the oldest one alone.
 */
export class BatchFile {
  readonly #path: string;
  #handle: FileHandle | null = null;

  constructor(runPath: string) {
    this.#path = join(runPath, BATCH_FILE);
  }

  /** Must have resolved before the batch is first sent. */
  async note({ first, last }: SegmentRange): Promise<void> {
    const record = Buffer.alloc(RECORD_BYTES);
    record.writeUInt32LE(first, 0);
    record.writeUInt32LE(last, 4);
    record.writeUInt32LE(crc32(record.subarray(0, CRC_AT)), CRC_AT);
    this.#handle ??= await open(this.#path, 'w', 0o600);
    const { bytesWritten } = await this.#handle.write(record, 0, RECORD_BYTES, 0);
    if (bytesWritten !== RECORD_BYTES) throw new Error('the batch in work did not fit on the disk');
  }

  /** Clears the record: the batch was split, and its segments are inserted one by one, each under its own token. */
  async clear(): Promise<void> {
    this.#handle ??= await open(this.#path, 'w', 0o600);
    await this.#handle.truncate(0);
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }

  /** The batch recorded last; null without one. */
  static async read(runPath: string): Promise<SegmentRange | null> {
    const record = await readFile(join(runPath, BATCH_FILE)).catch(orAtLimit(Buffer.alloc(0)));
    if (record.length !== RECORD_BYTES) return null;
    if (crc32(record.subarray(0, CRC_AT)) !== record.readUInt32LE(CRC_AT)) return null;
    return { first: record.readUInt32LE(0), last: record.readUInt32LE(4) };
  }
}
