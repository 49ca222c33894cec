/** What an answer's reader has not taken yet: up to a mebibyte in memory, the rest in a file. */
import type { Writable } from 'node:stream';
import type { Clock } from '../../../runtime/clock.ts';
import { HostError } from './hostError.ts';
import type { RingFile } from './ringFile.ts';

/** More than this waiting in memory sends what follows to the file. */
export const MEMORY_BYTES = 1024 * 1024;
const PIECE_BYTES = 256 * 1024;
/** An answer for which there is no room may keep its session this long while others wait for one. */
export const HELD_MS_MAX = 10_000;
const CHECK_MS = 1_000;

export interface AnswerBufferOptions {
  /** Null where there is no room for a file now. */
  readonly openFile: () => Promise<RingFile | null>;
  readonly clock: Clock;
  /** Whether other answers wait for a session. */
  readonly othersWait: () => boolean;
}

/**
 * Takes an answer at the engine's pace and gives it at the reader's, so that the engine's session is free as soon as the
 * engine is done. Only where neither memory nor file has room does the engine wait for the reader.
 */
export class AnswerBuffer {
  readonly #reader: Writable;
  readonly #options: AnswerBufferOptions;
  #file: RingFile | null = null;
  /** The file is being copied to the reader. */
  #isCopying = false;
  #copied: Promise<void> = Promise.resolve();
  #failure: unknown = null;
  #heldSinceMs: number | null = null;
  #waiting: (() => void)[] = [];
  readonly #wake = () => {
    for (const resume of this.#waiting.splice(0)) resume();
  };

  constructor(reader: Writable, options: AnswerBufferOptions) {
    this.#reader = reader;
    this.#options = options;
    reader.on('drain', this.#wake).on('close', this.#wake);
  }

  /** More waits for the reader than memory holds. */
  get isReaderBehind(): boolean {
    return this.#reader.writableLength >= MEMORY_BYTES || (this.#file?.unreadBytes ?? 0) > 0;
  }

  /**
   * Resolves when the bytes have a place, or the reader is gone.
   * @throws {HostError} When there is no room for long, and others wait for the session.
   */
  async write(bytes: Buffer): Promise<void> {
    while (!this.#reader.destroyed) {
      if (this.#failure !== null) throw this.#failure;
      const isFileEmpty = (this.#file?.unreadBytes ?? 0) === 0;
      if (isFileEmpty && this.#reader.writableLength < MEMORY_BYTES) {
        this.#reader.write(bytes);
        return;
      }
      if (await this.#spill(bytes)) return;
      await this.#room();
    }
  }

  /** Resolves when the reader has been given everything, or is gone. */
  async finish(): Promise<void> {
    while (this.#isCopying) await this.#copied;
    if (this.#failure !== null && !this.#reader.destroyed) throw this.#failure;
  }

  /** Frees the file. */
  async close(): Promise<void> {
    this.#reader.off('drain', this.#wake).off('close', this.#wake);
    this.#failure ??= new Error('the answer is over');
    this.#wake();
    await this.#copied;
    await this.#file?.close();
  }

  async #spill(bytes: Buffer): Promise<boolean> {
    this.#file ??= await this.#options.openFile();
    if (this.#file === null || !(await this.#file.append(bytes))) return false;
    if (!this.#isCopying) {
      this.#isCopying = true;
      this.#copied = this.#copy(this.#file);
    }
    return true;
  }

  async #copy(file: RingFile): Promise<void> {
    try {
      while (file.unreadBytes > 0 && this.#failure === null && !this.#reader.destroyed) {
        if (this.#reader.writableNeedDrain) {
          await this.#moves();
          continue;
        }
        const piece = await file.peek(PIECE_BYTES);
        if (this.#reader.destroyed) return;
        this.#reader.write(piece);
        file.consume(piece.length);
        this.#wake();
      }
    } catch (error) {
      this.#failure = error;
      this.#wake();
    } finally {
      this.#isCopying = false;
    }
  }

  /** Waits until the reader has moved, or for a second. */
  async #room(): Promise<void> {
    const { clock, othersWait } = this.#options;
    this.#heldSinceMs ??= clock.monotonic();
    if (clock.monotonic() - this.#heldSinceMs >= HELD_MS_MAX && othersWait()) {
      throw new HostError(
        202,
        'TOO_MANY_SIMULTANEOUS_QUERIES',
        'No room for what the reader of this answer has not taken, and others wait for its session',
      );
    }
    const timer = clock.after(CHECK_MS, this.#wake);
    await this.#moves();
    timer.cancel();
  }

  #moves(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
