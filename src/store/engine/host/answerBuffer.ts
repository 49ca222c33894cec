/** The part of an answer that its reader has not consumed yet: up to a mebibyte in memory, the rest in a file. */
import type { Writable } from 'node:stream';
import type { Clock } from '../../../runtime/clock.ts';
import { HostError } from './hostError.ts';
import type { RingFile } from './ringFile.ts';

/** When more than this waits in memory, later blocks go to the file. */
export const MEMORY_BYTES = 1024 * 1024;
const PIECE_BYTES = 256 * 1024;
/** An answer without room may keep its session this long while other requests wait for one. */
export const HELD_MS_MAX = 10_000;
const CHECK_MS = 1_000;

interface AnswerBufferOptions {
  /** Null where there is no room for a file now. */
  readonly openFile: () => Promise<RingFile | null>;
  readonly clock: Clock;
  /** Whether other answers wait for a session. */
  readonly othersWait: () => boolean;
}

/**
 * Accepts an answer at the engine's pace and sends it at the reader's. The engine's session is free as soon as the
 * engine is done; the engine waits for the reader only when both memory and file are full.
 */
export class AnswerBuffer {
  readonly #reader: Writable;
  readonly #options: AnswerBufferOptions;
  #file: RingFile | null = null;
  /** Whether the file is being copied to the reader. */
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
   * Resolves when the bytes are buffered or sent, or the reader has left.
   * @throws {HostError} When there was no room for too long and others wait for the session.
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

  /** Resolves when everything was passed to the reader, or the reader has left. */
  async finish(): Promise<void> {
    while (this.#isCopying) await this.#copied;
    if (this.#failure !== null && !this.#reader.destroyed) throw this.#failure;
  }

  /** Releases the file. */
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

  /** Waits until the reader has consumed something, or for a second. */
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
