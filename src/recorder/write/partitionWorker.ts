import type {
  RecordStream,
  SharedValues,
  StreamMessage,
  StreamPlace,
  StreamWork,
} from '../../bus/recordStream.ts';
import type { Logger } from '../../runtime/log.ts';
import type { RecordKind, RecordOf } from '../../schema/records.ts';
import { type Checkpoint, readCheckpoint, writeCheckpoint } from './checkpoint.ts';

/** A record of the merged stream: numbered, and late if a newer one of its market came first. */
export type MergedRecord = {
  [K in RecordKind]: { readonly kind: K; readonly record: RecordOf<K> };
}[RecordKind];

/** Turns the messages of all collectors into one recording; its state continues in another process. */
export interface Merge {
  step(
    message: StreamMessage,
    place: StreamPlace,
  ): readonly (MergedRecord | { readonly kind: 'opportunity' })[];
  /** JSON from which `openMerge` continues. */
  state(): unknown;
}

/** The inserts of one partition into the store. */
export interface PartitionStore {
  /**
   * Resolves when the rows are in the store, once: a repetition with the same token adds none.
   * @throws {StoreUnavailableError} After bounded retries.
   */
  insert(rows: readonly MergedRecord[], token: string): Promise<void>;
  /** The numbers above `sinceSeq` that the store has, of rows received since `sinceMs`. */
  storedSeqs(since: { sinceSeq: number; sinceMs: number }): Promise<ReadonlySet<number>>;
}

interface PartitionWorkerOptions {
  readonly partition: number;
  readonly stream: RecordStream;
  readonly values: SharedValues;
  readonly store: PartitionStore;
  /** @param state A state of an earlier merge; null: from the beginning. */
  readonly openMerge: (state: unknown) => Merge;
  readonly log: Logger;
}

/** Rows received this long before the checkpoint may be among those stored after it: collectors send late copies. */
const STORED_BEFORE_MS = 3_600_000;

/**
 * Stores one partition of the stream. Each batch is merged, inserted, noted in the checkpoint and then acknowledged. A
 * crash between insert and checkpoint makes the batch come again: rows whose numbers the store has are left out.
 */
export class PartitionWorker {
  readonly #options: PartitionWorkerOptions;
  #checkpoint: Checkpoint;
  #merge: Merge;
  /** Numbers that an earlier worker stored after its last checkpoint. */
  #alreadyStored: ReadonlySet<number>;
  #working: { stop(): Promise<void> } | null = null;

  private constructor(
    options: PartitionWorkerOptions,
    start: { checkpoint: Checkpoint; stored: ReadonlySet<number> },
  ) {
    this.#options = options;
    this.#checkpoint = start.checkpoint;
    this.#alreadyStored = start.stored;
    this.#merge = options.openMerge(start.checkpoint.state);
  }

  /**
   * Continues where the last worker of the partition stopped.
   * @throws {StoreUnavailableError} When the store cannot say what it has.
   */
  static async start(options: PartitionWorkerOptions): Promise<PartitionWorker> {
    const { partition, stream, values, store, log } = options;
    const checkpoint = await readCheckpoint(values, partition);
    const since = {
      sinceSeq: stream.baseSeq + 2 * checkpoint.streamSeq + 1,
      sinceMs: Math.max(0, checkpoint.timeMs - STORED_BEFORE_MS),
    };
    const stored = await store.storedSeqs(since);
    log.info({ partition, streamSeq: checkpoint.streamSeq, stored: stored.size }, 'partition.taken');
    const worker = new PartitionWorker(options, { checkpoint, stored });
    worker.#working = await stream.work(partition, (work) => worker.#handle(work));
    return worker;
  }

  /** Ends after the batch in work. */
  async stop(): Promise<void> {
    await this.#working?.stop();
  }

  async #handle(work: StreamWork): Promise<void> {
    const { partition, store, values, openMerge } = this.#options;
    const news = work.filter(({ place }) => place.streamSeq > this.#checkpoint.streamSeq);
    const last = news.at(-1)?.place;
    if (last === undefined) return;
    try {
      const rows = news.flatMap(({ message, place }) => this.#rowsOf(message, place));
      if (rows.length > 0)
        await store.insert(rows, `${partition}-${news[0]?.place.streamSeq}-${last.streamSeq}`);
      const checkpoint = { streamSeq: last.streamSeq, timeMs: last.timeMs, state: this.#merge.state() };
      await writeCheckpoint(values, partition, checkpoint);
      this.#checkpoint = checkpoint;
    } catch (error) {
      // The batch comes again: the merge must not see it twice.
      this.#merge = openMerge(this.#checkpoint.state);
      throw error;
    }
  }

  #rowsOf(message: StreamMessage, place: StreamPlace): MergedRecord[] {
    return this.#merge
      .step(message, place)
      .filter((output): output is MergedRecord => output.kind !== 'opportunity')
      .filter(({ record }) => !this.#alreadyStored.has(record.seq));
  }
}
