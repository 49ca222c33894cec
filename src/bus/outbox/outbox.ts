/**
 * Messages that the stream has not acknowledged, in order. While the stream answers they are only in memory. When it
 * is late or away, they go to files, so that neither a long outage nor the death of the process loses them.
 *
 * `loaded` is sent first, then the files in order, then `tail`. Messages of a file are loaded as a whole; the file is
 * removed when the stream has all of them.
 */
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { OutboxDirectory } from './outboxDirectory.ts';
import { type OutboxFile, type OutboxMessage, sizeInFile } from './outboxFile.ts';

/** Messages unacknowledged for this long go to a file. */
const SPILL_AGE_MS = 1_000;
/** After it a file is closed and the next one begins. It is loaded as a whole. */
const FILE_BYTES_MAX = 4 * 1024 * 1024;
/** A full outbox accepts messages again when this share of its limit is free. */
const FREE_SHARE = 0.1;
/**
 * A full outbox accepts messages whose subjects end so: they are few, are sent once, and record the losses and their
 * markets.
 */
const ALWAYS_ACCEPTED: readonly string[] = ['.market', '.gap', '.proven'];

interface OutboxOptions {
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Limit of the files. */
  readonly diskBytesMax: number;
  /** Messages beyond it go to a file at once; while files cannot be written, more than it are dropped. */
  readonly memoryBytesMax: number;
}

interface Waiting extends OutboxMessage {
  readonly sinceMs: number;
}

export class Outbox {
  readonly #options: OutboxOptions;
  readonly #directory: OutboxDirectory;
  readonly #dropped;
  /** The oldest messages; those before `#sent` are being sent. */
  #loaded: Waiting[] = [];
  #loadedBytes = 0;
  #sent = 0;
  /** The file that holds the loaded messages too, and how many of its messages the stream has; null without one. */
  #loadedFile: OutboxFile | null = null;
  #loadedDone = 0;
  #notedDone = 0;
  /** Whether the loaded messages are still to be written to their file. */
  #isLoadedUnwritten = false;
  /** Closed files, then the one that is written, with their numbers of messages. */
  #files: { file: OutboxFile; count: number }[] = [];
  /** The file for the tail; it is the last of `#files` once something was written to it. */
  #writing: { file: OutboxFile; count: number } | null = null;
  #tail: Waiting[] = [];
  #tailBytes = 0;
  #isFull = false;
  #writeFailure: string | null = null;
  /** File operations, one after another. */
  #work: Promise<void> = Promise.resolve();
  #isWorking = false;
  /** Called when there may be messages to send again. */
  onLoaded: () => void = () => undefined;

  private constructor(options: OutboxOptions, directory: OutboxDirectory) {
    this.#options = options;
    this.#directory = directory;
    this.#files = directory.earlier.map((file) => ({ file, count: 0 }));
    const { metrics } = options;
    const help = 'Messages that a full outbox dropped';
    this.#dropped = metrics.counter('underround_stream_outbox_dropped_total', help);
    const size = 'Messages that wait for the stream, without those in the files of earlier runs';
    metrics.gauge('underround_stream_outbox_messages', size, [], (gauge) => gauge.set(this.size));
  }

  static async open(options: OutboxOptions): Promise<Outbox> {
    const directory = await OutboxDirectory.open(options.directory, options.log);
    const { length } = directory.earlier;
    if (length > 0) options.log.info({ files: length }, 'outbox.earlier_run');
    return new Outbox(options, directory);
  }

  /** Messages that wait, without those in the files of earlier runs. */
  get size(): number {
    return this.#files.reduce((sum, { count }) => sum + count, this.#loaded.length + this.#tail.length);
  }

  /** Messages that wait in files, without those in the files of earlier runs; 0 while all are in memory. */
  get onDisk(): number {
    return this.#isOnlyInMemory ? 0 : this.size;
  }

  get isEmpty(): boolean {
    return this.#files.length + this.#loaded.length + this.#tail.length === 0;
  }

  /** Why messages are dropped; null while none are. */
  get reason(): string | null {
    if (!this.#isFull) return null;
    const why = this.#writeFailure === null ? '' : `: ${this.#writeFailure}`;
    return `the outbox is full, messages are dropped${why}`;
  }

  /** Adds a message at the end, or drops it when the outbox is full, unless it is one of `ALWAYS_ACCEPTED`. */
  push(message: OutboxMessage): void {
    const bytes = sizeInFile(message);
    const isKept = ALWAYS_ACCEPTED.some((end) => message.subject.endsWith(end));
    if (!this.#accepts(bytes) && !isKept) {
      this.#dropped.inc();
      return;
    }
    const waiting = { ...message, sinceMs: this.#options.clock.monotonic() };
    if (this.#isOnlyInMemory) {
      this.#loaded.push(waiting);
      this.#loadedBytes += bytes;
      if (this.#loadedBytes > this.#options.memoryBytesMax) this.#spillLoaded();
    } else {
      this.#tail.push(waiting);
      this.#tailBytes += bytes;
    }
  }

  /** The next message to send; null when none is loaded. */
  next(): OutboxMessage | null {
    const message = this.#loaded[this.#sent];
    if (message === undefined) return null;
    this.#sent++;
    return message;
  }

  /** The stream has the oldest sent message. */
  acknowledge(): void {
    const message = this.#loaded.shift();
    if (message === undefined) return;
    this.#sent--;
    if (this.#loadedFile === null) this.#loadedBytes -= sizeInFile(message);
    else this.#loadedDone++;
    if (this.#loaded.length === 0 && !this.#isOnlyInMemory) this.#start();
  }

  /** All unacknowledged messages are to be sent again, from the oldest. */
  rewind(): void {
    this.#sent = 0;
  }

  /** Writes to files what waits for long, and loads files. Call it about ten times a second. */
  tick(): void {
    const oldest = this.#loaded[0];
    const ageMs = oldest === undefined ? 0 : this.#options.clock.monotonic() - oldest.sinceMs;
    if (this.#isOnlyInMemory && ageMs > SPILL_AGE_MS) this.#spillLoaded();
    else if (!this.#isOnlyInMemory) this.#start();
  }

  /** Resolves when the started file operations have ended. */
  idle(): Promise<void> {
    return this.#work;
  }

  /** Writes everything that waits to files, for a later run. */
  async close(): Promise<void> {
    await this.#work;
    if (this.#isOnlyInMemory && this.#loaded.length > 0) this.#spillLoaded();
    await this.#enqueue(async () => {
      await this.#writeLoaded();
      await this.#noteDone();
      await this.#writeTail();
    });
    const isLoadedDone = this.#loaded.length === 0;
    if (isLoadedDone) await this.#loadedFile?.remove();
    else await this.#loadedFile?.close();
    await this.#writing?.file.close();
    await this.#directory.close();
  }

  get #isOnlyInMemory(): boolean {
    return this.#loadedFile === null && this.#files.length === 0 && this.#tail.length === 0;
  }

  get #diskBytes(): number {
    return this.#files.reduce((sum, { file }) => sum + file.length, this.#loadedFile?.length ?? 0);
  }

  #accepts(bytes: number): boolean {
    const { diskBytesMax, memoryBytesMax, log } = this.#options;
    const disk = (this.#diskBytes + this.#tailBytes + bytes) / diskBytesMax;
    const memory = (this.#tailBytes + bytes) / memoryBytesMax;
    const used = this.#isOnlyInMemory ? 0 : Math.max(disk, memory);
    const isFull = used > (this.#isFull ? 1 - FREE_SHARE : 1);
    if (isFull !== this.#isFull) {
      this.#isFull = isFull;
      if (isFull) log.error({ messages: this.size, cause: this.#writeFailure }, 'outbox.full');
      else log.info({ messages: this.size }, 'outbox.accepts_again');
    }
    return !isFull;
  }

  /** Gives the loaded messages a file too. They stay loaded; later ones follow in the tail. */
  #spillLoaded(): void {
    this.#loadedFile = this.#directory.next();
    this.#isLoadedUnwritten = true;
    this.#options.log.warn({ messages: this.#loaded.length }, 'outbox.writes_files');
    this.#start();
  }

  /** Starts the due file operations, unless some are running. */
  #start(): void {
    if (this.#isWorking) return;
    void this.#enqueue(async () => {
      // Before the writes: on a full disk they fail until the file of sent messages is removed.
      await this.#loadNextIfSent();
      await this.#writeLoaded();
      await this.#noteDone();
      if (this.#loaded.length > 0 || this.#files.length > 0) await this.#writeTail();
      await this.#loadNextIfSent();
    });
  }

  #enqueue(operation: () => Promise<void>): Promise<void> {
    this.#isWorking = true;
    const work = this.#work
      .then(operation)
      .catch((error) => this.#failed(error))
      .finally(() => {
        if (this.#work === work) this.#isWorking = false;
      });
    this.#work = work;
    return work;
  }

  async #writeLoaded(): Promise<void> {
    const file = this.#loadedFile;
    if (!this.#isLoadedUnwritten || file === null) return;
    const messages = [...this.#loaded];
    this.#loadedDone = 0;
    this.#notedDone = 0;
    await this.#append(file, messages);
    this.#isLoadedUnwritten = false;
  }

  async #noteDone(): Promise<void> {
    const file = this.#loadedFile;
    if (file === null || file.length === 0 || this.#loadedDone === this.#notedDone) return;
    const done = this.#loadedDone;
    await file.noteAcknowledged(done);
    this.#notedDone = done;
  }

  async #writeTail(): Promise<void> {
    const messages = [...this.#tail];
    if (messages.length === 0) return;
    this.#writing ??= { file: this.#directory.next(), count: 0 };
    const writing = this.#writing;
    await this.#append(writing.file, messages);
    // Only now, because a file whose first write failed cannot be loaded.
    if (writing.count === 0) this.#files.push(writing);
    writing.count += messages.length;
    this.#tail.splice(0, messages.length);
    this.#tailBytes = this.#tail.reduce((sum, message) => sum + sizeInFile(message), 0);
    if (writing.file.length > FILE_BYTES_MAX) {
      await writing.file.close();
      this.#writing = null;
    }
  }

  async #append(file: OutboxFile, messages: readonly Waiting[]): Promise<void> {
    await file.append(messages);
    if (this.#writeFailure !== null) this.#options.log.info({}, 'outbox.written_again');
    this.#writeFailure = null;
  }

  /** Replaces the loaded messages, once the stream has all of them, by the next ones. */
  async #loadNextIfSent(): Promise<void> {
    if (this.#loaded.length > 0) return;
    await this.#loadedFile?.remove();
    const next = this.#files[0];
    if (next === undefined) {
      // Its first write failed. Its number is lower than that of the next file, which will have older messages: a later
      // run would send them in the wrong order.
      await this.#writing?.file.remove();
      this.#writing = null;
    }
    this.#loadedFile = null;
    this.#isLoadedUnwritten = false;
    if (next === undefined) {
      this.#loaded = this.#tail;
      this.#loadedBytes = this.#tailBytes;
      this.#tail = [];
      this.#tailBytes = 0;
    } else {
      if (next === this.#writing) this.#writing = null;
      await next.file.close();
      await this.#load(next.file);
      this.#files.shift();
    }
    this.#sent = 0;
    this.onLoaded();
  }

  async #load(file: OutboxFile): Promise<void> {
    const { messages, acknowledged, tornBytes } = await file.load();
    if (tornBytes > 0) this.#options.log.warn({ path: file.path, tornBytes }, 'outbox.file_torn');
    const sinceMs = this.#options.clock.monotonic();
    this.#loaded = messages.map((message) => ({ ...message, sinceMs }));
    this.#loadedFile = file;
    this.#loadedDone = acknowledged;
    this.#notedDone = acknowledged;
  }

  #failed(error: unknown): void {
    const message = (error as Error).message;
    if (this.#writeFailure === message) return;
    this.#writeFailure = message;
    this.#options.log.error({ err: error }, 'outbox.file_failed');
  }
}
