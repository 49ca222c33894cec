import type {
  RecordStream,
  SharedValues,
  StreamMessage,
  StreamPlace,
  StreamWork,
} from '../../bus/recordStream.ts';
import type { Logger } from '../../runtime/log.ts';
import type { KindedRecord } from '../../schema/records.ts';
import { type Checkpoint, readCheckpoint, writeCheckpoint } from './checkpoint.ts';

/** Turns the messages of all collectors into one recording; its state continues in another process. */
export interface Merge {
  step(
    message: StreamMessage,
    place: StreamPlace,
  ): readonly (KindedRecord | { readonly kind: 'opportunity' })[];
  /** JSON from which `openMerge` continues. */
  state(): unknown;
}

/** The inserts of one partition: see `PartitionWriter`. */
export interface PartitionStore {
  mayBeStoredUpTo(seq: number): void;
  /** @throws {StoreUnavailableError} When the rows are not stored. */
  insert(records: readonly KindedRecord[], token: string): Promise<void>;
  close(): void;
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

/**
 * Stores one partition of the stream. Each batch is merged, inserted, noted in the checkpoint and then acknowledged. A
 * crash between insert and checkpoint makes the batch come again: rows whose numbers the store has are left out.
 */
export class PartitionWorker {
  readonly #options: PartitionWorkerOptions;
  #checkpoint: Checkpoint;
  #merge: Merge;
  #working: { stop(): Promise<void> } | null = null;

  private constructor(options: PartitionWorkerOptions, checkpoint: Checkpoint) {
    this.#options = options;
    this.#checkpoint = checkpoint;
    this.#merge = options.openMerge(checkpoint.state);
  }

  /**
   * Continues where the last worker of the partition stopped.
   * @throws {StoreUnavailableError} When the stream does not answer.
   */
  static async start(options: PartitionWorkerOptions): Promise<PartitionWorker> {
    const { partition, stream, values, store, log } = options;
    const checkpoint = await readCheckpoint(values, partition);
    // The last worker may have stored rows of any message in the stream after its checkpoint.
    store.mayBeStoredUpTo(stream.baseSeq + 2 * (await stream.lastSeq()) + 1);
    log.info({ partition, streamSeq: checkpoint.streamSeq }, 'partition.taken');
    const worker = new PartitionWorker(options, checkpoint);
    worker.#working = await stream.work(partition, (work) => worker.#handle(work));
    return worker;
  }

  /** Gives up a running insert: the next worker of the partition finishes it. */
  async stop(): Promise<void> {
    this.#options.store.close();
    await this.#working?.stop();
  }

  async #handle(work: StreamWork): Promise<void> {
    const { partition, stream, store, values, openMerge } = this.#options;
    const news = work.filter(({ place }) => place.streamSeq > this.#checkpoint.streamSeq);
    const [first, last] = [news.at(0)?.place, news.at(-1)?.place];
    if (first === undefined || last === undefined) return;
    try {
      const rows = news.flatMap(({ message, place }) => this.#rowsOf(message, place));
      const token = `${stream.baseSeq}-${partition}-${first.streamSeq}-${last.streamSeq}`;
      if (rows.length > 0) await store.insert(rows, token);
      const checkpoint = { streamSeq: last.streamSeq, timeMs: last.timeMs, state: this.#merge.state() };
      await writeCheckpoint(values, partition, checkpoint);
      this.#checkpoint = checkpoint;
    } catch (error) {
      // The batch comes again: the merge must not see it twice.
      this.#merge = openMerge(this.#checkpoint.state);
      throw error;
    }
  }

  #rowsOf(message: StreamMessage, place: StreamPlace): KindedRecord[] {
    return this.#merge
      .step(message, place)
      .filter((output): output is KindedRecord => output.kind !== 'opportunity');
  }
}
