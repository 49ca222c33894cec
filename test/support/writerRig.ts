import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Clock } from '../../src/runtime/clock.ts';
import { StoreUnavailableError } from '../../src/runtime/errors.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import type { TradeRecord } from '../../src/schema/records.ts';
import { parseSegment } from '../../src/store/journal/journalFormat.ts';
import type { InsertClient } from '../../src/store/journal/rowInserter.ts';
import { StoreWriter } from '../../src/store/journal/writer.ts';
import type { WriterOptions } from '../../src/store/journal/writerOptions.ts';
import './keptFileHandles.ts';
import { FakeClock } from './fakeClock.ts';

export const NOON_MS = Date.UTC(2026, 10, 20, 12);

export interface Insert {
  target: string;
  token: string;
  data: Buffer;
}

/** An engine with answers chosen by a test; it keeps accepted inserts. */
export class FakeEngine implements InsertClient {
  readonly tried: Insert[] = [];
  readonly taken: Insert[] = [];
  /** Seqs it claims to have; null: those of the accepted trades. */
  present: number[] | null = [];
  answer: (insert: Insert) => Error | null = () => null;

  async insert(options: { target: string; format: string; data: Uint8Array; token: string }): Promise<void> {
    const insert = { target: options.target, token: options.token, data: Buffer.from(options.data) };
    this.tried.push(insert);
    const failure = this.answer(insert);
    if (failure) throw failure;
    const isDuplicate = this.present === null && this.taken.some(({ token }) => token === insert.token);
    if (!isDuplicate) this.taken.push(insert);
  }

  async rows<T>(query: string): Promise<T[]> {
    if (this.present !== null) return this.present.map((seq) => ({ seq })) as T[];
    return (query.includes('.trades') ? this.trades().map((seq) => ({ seq })) : []) as T[];
  }

  /** Seqs of the accepted trades, in arrival order. */
  trades(): number[] {
    return this.taken
      .filter(({ target }) => target.includes('.trades'))
      .flatMap(({ data }) => tradeSeqs(data));
  }
}

/** Ids of trades are padded so that all rows have the same length. */
const TRADE_ID_LENGTH = 6;
/** Market id, three fixed values before the side and two after it, and whether the trade came late. */
const TRADE_ROW_BYTES = 2 + 8 * 3 + (1 + 'BUY_YES'.length) + 2 + 8 + (1 + TRADE_ID_LENGTH) + 1;

export function trade(seq: number, eventTimeMs = NOON_MS): TradeRecord {
  const times = { eventTimeMs, receivedTimeMs: eventTimeMs };
  const tradeId = `${seq}`.padStart(TRADE_ID_LENGTH, '0');
  return { seq, marketId: 'm', ...times, side: 'BUY_YES', price: 1, size: 1, tradeId };
}

/** Integers, both ends included. */
export const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

/** The answer of an engine that cannot be reached. */
export const away = () => new StoreUnavailableError('away');

/** Seqs of encoded trades. */
export function tradeSeqs(data: Buffer): number[] {
  const rows = data.length / TRADE_ROW_BYTES;
  // Market id (2 bytes) and ts (8) come before seq.
  return Array.from({ length: rows }, (_, row) => Number(data.readBigUInt64LE(row * TRADE_ROW_BYTES + 10)));
}

/** A writer on a fake engine and a fake clock, in a separate directory. */
export class WriterRig {
  readonly clock: FakeClock;
  readonly metrics = new Metrics();
  engine = new FakeEngine();
  #opened: { writer: StoreWriter; engine: FakeEngine; life: { isOver: boolean } }[] = [];

  readonly dataDir: string;

  private constructor(dataDir: string, startMs: number) {
    this.dataDir = dataDir;
    this.clock = new FakeClock(startMs);
  }

  static async make(options: { dataDir?: string; startMs?: number } = {}): Promise<WriterRig> {
    const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'underround-writer-')));
    return new WriterRig(dataDir, options.startMs ?? NOON_MS);
  }

  async open(options: Partial<WriterOptions> = {}): Promise<StoreWriter> {
    const { dataDir, engine, metrics } = this;
    const life = { isOver: false };
    const clock = this.#clockOf(life);
    const writer = await StoreWriter.open({
      ...{ dataDir, client: engine, clock, log: silentLogger, metrics },
      ...options,
    });
    this.#opened.push({ writer, engine, life });
    void writer.startRecovery();
    return writer;
  }

  /** Closes every writer, whatever its engine answered, and removes the directory. */
  async dispose(): Promise<void> {
    for (const { writer, engine } of this.#opened) {
      engine.answer = () => null;
      engine.present = Array.from({ length: 3_000 }, (_, seq) => seq);
      await this.whileTimePasses(writer.close().catch(() => undefined));
    }
    await rm(this.dataDir, { recursive: true, force: true });
  }

  /**
   * Runs disk operations and promises, advancing the clock by `stepMs` a turn, until the condition is true; the test's
   * own limit bounds it.
   */
  async until(holds: () => boolean | Promise<boolean>, stepMs = 0): Promise<void> {
    while (!(await holds())) await this.clock.advance(stepMs);
  }

  /** Advances time in steps until the work is done. */
  async whileTimePasses<T>(work: Promise<T>, stepMs = 1_000): Promise<T> {
    return await this.clock.advanceUntil(work, stepMs);
  }

  /** One trade per segment; afterwards all are in the journal, or already in the engine. */
  async tradeEverySecond(
    writer: StoreWriter,
    seqs: readonly number[],
    timeMs: () => number = () => NOON_MS,
  ): Promise<void> {
    for (const seq of seqs) {
      writer.trade(trade(seq, timeMs()));
      await this.clock.advance(1_000);
    }
    const [last = 0] = seqs.slice(-1);
    const isSafe = async () => writer.pending().rows === 0 || (await this.journalled()).includes(last);
    await this.until(isSafe, 50);
  }

  /** Paths of segments, sorted, including those set aside. */
  async files(ending = '.seg'): Promise<string[]> {
    const names = await readdir(join(this.dataDir, 'journal'), { recursive: true });
    return names
      .filter((name) => name.endsWith(ending))
      .map((name) => join(this.dataDir, 'journal', name))
      .sort();
  }

  /** Seqs of the trades in the last segment of each run's journal. */
  async journalled(): Promise<number[]> {
    const lastOfRun = new Map((await this.files()).map((path) => [dirname(path), path]));
    const seqs: number[] = [];
    for (const path of lastOfRun.values()) {
      // It may be inserted and deleted at any moment.
      const file = await readFile(path).catch(() => Buffer.alloc(0));
      const rows = parseSegment(file).tables.get('trades');
      seqs.push(...(rows?.seqs.subarray(0, rows.rows) ?? []));
    }
    return seqs;
  }

  /** Ends every writer like a kill of its process: its timers no longer fire, and its engine is away. */
  async killRuns(): Promise<void> {
    for (const { life, engine } of this.#opened) {
      life.isOver = true;
      engine.answer = () => new StoreUnavailableError('killed');
    }
    this.#opened = [];
    const journal = join(this.dataDir, 'journal');
    const dead = JSON.stringify({ pid: 2 ** 22 + 1, start: '1' });
    for (const name of await readdir(journal)) {
      if (!name.includes('.')) continue;
      for (const file of await readdir(join(journal, name)))
        if (file === 'owner' || file.startsWith('claim-')) await writeFile(join(journal, name, file), dead);
    }
    this.engine = new FakeEngine();
  }

  #clockOf(life: { readonly isOver: boolean }): Clock {
    const { clock } = this;
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      after: (delayMs, run) => clock.after(delayMs, () => !life.isOver && run()),
    };
  }
}
