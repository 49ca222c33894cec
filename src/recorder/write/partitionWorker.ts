import type {
  RecordStream,
  SharedValues,
  StreamMessage,
  StreamPlace,
  StreamWork,
} from '../../bus/recordStream.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { StoreUnavailableError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import type { KindedRecord } from '../../schema/records.ts';
import {
  type BatchRange,
  type Checkpoint,
  lastStored,
  readBatch,
  readCheckpoint,
  writeBatch,
  writeCheckpoint,
} from './checkpoint.ts';

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
  /** @param state A state of an earlier merge. */
  readonly openMerge: (state: unknown) => Merge;
  /** The state with which the partition's first worker begins. @throws {StoreUnavailableError} */
  readonly firstState: () => Promise<unknown>;
  /** False as soon as another process may work on the partition. */
  readonly isOwner: () => boolean;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A batch whose checkpoint is not written yet. */
interface OpenBatch extends BatchRange {
  readonly work: StreamWork;
  readonly isNoted: boolean;
}

/** The first worker notes the state with which it begins: after its first rows the store would say something else. */
async function firstCheckpoint(
  { values, partition, firstState }: PartitionWorkerOptions,
  found: Checkpoint,
): Promise<Checkpoint> {
  if (found.state !== null) return found;
  const checkpoint = { ...found, state: await firstState() };
  await writeCheckpoint(values, partition, checkpoint);
  return checkpoint;
}

/** The stream answers within this time, or the batch is tried again. */
const READ_MAX_MS = 10_000;

/**
 * Stores one partition of the stream. Each batch is noted, merged, inserted, included in the checkpoint and then
 * acknowledged. After a crash or a failure, a noted batch is finished with the same messages, whatever the stream gives
 * at once: an insert of it that still runs in the engine has the same token and rows, so each row is stored once.
 */
export class PartitionWorker {
  readonly #options: PartitionWorkerOptions;
  #checkpoint: Checkpoint;
  #merge: Merge;
  /** The batch that the last worker noted; null once it is finished. */
  #inherited: BatchRange | null;
  /** Batches to finish before any other one. */
  #open: OpenBatch[] = [];
  /** The stream's numbers went back: messages are skipped, and so lost, until one has a new number. */
  #isRenumbered = false;
  #working: { stop(): Promise<void> } | null = null;

  private constructor(
    options: PartitionWorkerOptions,
    { checkpoint, noted }: { checkpoint: Checkpoint; noted: BatchRange | null },
  ) {
    this.#options = options;
    this.#checkpoint = checkpoint;
    this.#merge = options.openMerge(checkpoint.state);
    this.#inherited = noted !== null && noted.lastSeq > checkpoint.streamSeq ? noted : null;
  }

  /**
   * Continues where the last worker of the partition stopped.
   * @throws {StoreUnavailableError} When the stream does not answer.
   */
  static async start(options: PartitionWorkerOptions): Promise<PartitionWorker> {
    const { partition, stream, values, store, log } = options;
    const checkpoint = await firstCheckpoint(options, await readCheckpoint(values, partition));
    const noted = await readBatch(values, partition);
    // The last worker may have stored rows of any message in the stream after its checkpoint, and of those that it noted:
    // a new leader of the stream may not have these yet.
    const lastSeq = Math.max(await stream.lastSeq(), noted?.lastSeq ?? 0);
    store.mayBeStoredUpTo(stream.baseSeq + 2 * lastSeq + 1);
    log.info({ partition, streamSeq: checkpoint.streamSeq, noted }, 'partition.taken');
    const worker = new PartitionWorker(options, { checkpoint, noted });
    worker.#working = await stream.work({ partition, after: lastStored(checkpoint) }, (work) =>
      worker.#handle(work),
    );
    return worker;
  }

  /** Gives up a running insert: the next worker of the partition finishes it. */
  async stop(): Promise<void> {
    this.#options.store.close();
    await this.#working?.stop();
  }

  async #handle(work: StreamWork): Promise<void> {
    if (this.#inherited !== null) {
      this.#open = await this.#readInherited(this.#inherited);
      this.#inherited = null;
    }
    await this.#storeOpen();
    const { streamSeq } = this.#checkpoint;
    this.#isRenumbered ||= work.some(({ place }) => place.isRenumbered === true);
    const [first, ...others] = work.filter(({ place }) => place.streamSeq > streamSeq);
    if (first === undefined) return;
    const place = this.#isRenumbered ? { ...first.place, isAfterLoss: true as const } : first.place;
    this.#isRenumbered = false;
    const news = [{ ...first, place }, ...others];
    const lastSeq = (others.at(-1) ?? first).place.streamSeq;
    this.#open = [{ firstSeq: place.streamSeq, lastSeq, work: news, isNoted: false }];
    await this.#storeOpen();
  }

  /**
   * Reads the messages of a noted batch again. Messages before it are a batch of their own: they are stored, but a
   * worker that was paused has written an older checkpoint over the newest.
   */
  async #readInherited({ firstSeq, lastSeq }: BatchRange): Promise<OpenBatch[]> {
    const { streamSeq } = this.#checkpoint;
    const work = await this.#read({ firstSeq: streamSeq + 1, lastSeq });
    const earlier = work.filter(({ place }) => place.streamSeq < firstSeq);
    const own = work.filter(({ place }) => place.streamSeq >= firstSeq);
    return [
      { firstSeq: streamSeq + 1, lastSeq: firstSeq - 1, work: earlier, isNoted: true },
      { firstSeq, lastSeq, work: own, isNoted: true },
    ].filter((batch) => batch.work.length > 0);
  }

  /** The partition's messages in a range that begins behind the checkpoint. @throws {StoreUnavailableError} When the stream does not give them in time. */
  async #read({ firstSeq, lastSeq }: BatchRange): Promise<StreamWork> {
    const { stream, partition, clock } = this.#options;
    const read: StreamWork[number][] = [];
    const whole = new AbortController();
    const from = { fromSeq: firstSeq, after: lastStored(this.#checkpoint), partition };
    const reading = await stream.follow(from, (message, place) => {
      if (place.streamSeq >= firstSeq && place.streamSeq <= lastSeq) read.push({ message, place });
      // The last message may be forgotten; later ones follow every second.
      if (place.streamSeq >= lastSeq) whole.abort();
    });
    await sleep(clock, READ_MAX_MS, whole.signal);
    await reading.stop();
    if (!whole.signal.aborted)
      throw new StoreUnavailableError(`the stream did not give the messages ${firstSeq} to ${lastSeq}`);
    return read;
  }

  async #storeOpen(): Promise<void> {
    for (let batch = this.#open[0]; batch !== undefined; batch = this.#open[0]) {
      await this.#store(batch);
      this.#open.shift();
    }
  }

  async #store({ firstSeq, lastSeq, work, isNoted }: OpenBatch): Promise<void> {
    const { partition, stream, store, values, openMerge } = this.#options;
    const { streamSeq, timeMs } = (work.at(-1) as StreamWork[number]).place;
    try {
      if (!isNoted) {
        this.#checkOwner();
        await writeBatch(values, partition, { firstSeq, lastSeq });
      }
      const rows = work.flatMap(({ message, place }) => this.#rowsOf(message, place));
      const token = `${stream.baseSeq}-${partition}-${firstSeq}-${lastSeq}`;
      if (rows.length > 0) await store.insert(rows, token);
      this.#checkOwner();
      const checkpoint = { streamSeq, timeMs, state: this.#merge.state() };
      await writeCheckpoint(values, partition, checkpoint);
      this.#checkpoint = checkpoint;
    } catch (error) {
      // The batch is tried again: the merge must not see it twice.
      this.#merge = openMerge(this.#checkpoint.state);
      throw error;
    }
  }

  /** After a pause of the process another one may have replaced this one: its notes must not be overwritten. */
  #checkOwner(): void {
    const { partition, isOwner } = this.#options;
    if (!isOwner()) throw new StoreUnavailableError(`another process stores partition ${partition}`);
  }

  #rowsOf(message: StreamMessage, place: StreamPlace): KindedRecord[] {
    return this.#merge
      .step(message, place)
      .filter((output): output is KindedRecord => output.kind !== 'opportunity');
  }
}
