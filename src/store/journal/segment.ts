import { insertTarget, TABLE_NAMES, TABLES, type TableName } from '../tables/schema.ts';
import { encodeSegmentHead, encodeWrite, type NewRows } from './journalFormat.ts';
import { RowBuffer } from './rowBuffer.ts';
import { type MakeRoom, SegmentFile } from './segmentFile.ts';

export const TARGETS = Object.fromEntries(TABLE_NAMES.map((name) => [name, insertTarget(TABLES[name])]));

/** Reuses row buffers, so that steady recording allocates no large memory. */
export class BufferPool {
  static readonly #KEPT_MAX = 16;
  readonly #free: RowBuffer[] = [];

  acquire(): RowBuffer {
    return this.#free.pop() ?? new RowBuffer();
  }

  release(buffer: RowBuffer): void {
    buffer.reset();
    if (this.#free.length < BufferPool.#KEPT_MAX) this.#free.push(buffer);
  }
}

/** The records of a period of time: encoded rows of every table, and the file with the same rows. */
export class Segment {
  readonly number: number;
  readonly file: SegmentFile;
  /** Monotonic time of its creation. */
  readonly openedAtMs: number;
  /** Monotonic time of its first row; null without rows. */
  firstRowAtMs: number | null = null;
  readonly #pool: BufferPool;
  readonly #buffers = new Map<TableName, RowBuffer>();
  readonly #journalled = new Map<TableName, number>();
  #writing: Promise<void> = Promise.resolve();
  #dropped = false;
  #retired = false;
  #closedRows = 0;
  #closedBytes = 0;

  constructor(options: {
    number: number;
    path: string;
    openedAtMs: number;
    pool: BufferPool;
    makeRoom?: MakeRoom | undefined;
  }) {
    this.number = options.number;
    this.file = new SegmentFile(options.path, options.makeRoom);
    this.openedAtMs = options.openedAtMs;
    this.#pool = options.pool;
  }

  buffer(table: TableName): RowBuffer {
    let buffer = this.#buffers.get(table);
    if (!buffer) {
      buffer = this.#pool.acquire();
      this.#buffers.set(table, buffer);
    }
    return buffer;
  }

  get rows(): number {
    let rows = this.#closedRows;
    for (const buffer of this.#buffers.values()) rows += buffer.rows;
    return rows;
  }

  /** Size of its rows, in memory or on disk. */
  get bytes(): number {
    return this.#closedBytes + this.memoryBytes;
  }

  /** Size of the rows in memory. */
  get memoryBytes(): number {
    let bytes = 0;
    for (const buffer of this.#buffers.values()) bytes += buffer.length;
    return bytes;
  }

  get isJournalled(): boolean {
    for (const [table, buffer] of this.#buffers) {
      if ((this.#journalled.get(table) ?? 0) < buffer.rows) return false;
    }
    return true;
  }

  /** Appends the rows that the file does not contain yet. */
  async journal(nowMs: number): Promise<void> {
    const writing = this.#writing.then(() => this.#journalNow(nowMs));
    this.#writing = writing.catch(() => undefined);
    await writing;
  }

  async #journalNow(nowMs: number): Promise<void> {
    if (this.#retired) return;
    const gained: NewRows[] = [];
    for (const [table, rows] of this.#buffers) {
      const fromRow = this.#journalled.get(table) ?? 0;
      if (fromRow < rows.rows) gained.push({ table, rows, fromRow });
    }
    if (gained.length === 0) return;
    const reached = gained.map(({ table, rows }) => [table, rows.rows] as const);
    const pieces: Uint8Array[] = encodeWrite(gained, nowMs);
    if (this.file.length === 0) pieces.unshift(encodeSegmentHead(TARGETS));
    await this.file.append(pieces);
    for (const [table, rows] of reached) this.#journalled.set(table, rows);
  }

  /** Frees the memory of a closed segment whose file contains all rows. */
  drop(): void {
    this.#dropped = true;
    this.#closedRows = this.rows;
    this.#closedBytes = this.bytes;
    this.#release();
  }

  /** The rows by table; read from the file when they were dropped from memory. */
  async load(): Promise<ReadonlyMap<TableName, RowBuffer>> {
    return this.#dropped ? (await this.file.load()).tables : this.#buffers;
  }

  /** Frees the memory and closes the file once the rows are in the engine. Returns true where there is a file. */
  async retire(): Promise<boolean> {
    this.#retired = true;
    await this.#writing;
    this.#release();
    await this.file.keep();
    return this.file.length > 0;
  }

  #release(): void {
    for (const buffer of this.#buffers.values()) this.#pool.release(buffer);
    this.#buffers.clear();
  }
}
