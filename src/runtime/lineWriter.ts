import { write, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { type BackoffLimits, backoffDelayMs } from './backoff.ts';
import type { Clock, Timer } from './clock.ts';

const writeBytes = promisify(write);

/** How long a line may wait for others: under load many share one write, and a reader notices no delay. */
const JOINED_MS = 10;
/** A slow reader of a pipe needs a moment, a full disk a person. */
const RETRY: BackoffLimits = { firstMs: 10, maxMs: 1_000 };
/** After the last of these retries the next line causes the next one, so that a command can end. */
const RETRIES_MAX = 10;
/** The retries of a process that exits: a good second. */
const EXIT_RETRIES_MAX = 7;
/** Text that waits while nothing can be written: hours of a quiet service, seconds of a busy one. */
const WAITING_CHARACTERS_MAX = 8 * 2 ** 20;

/** What lines are written to. */
interface LineTarget {
  /** Resolves with the number of bytes that were written, which may be fewer than given. */
  write(bytes: Buffer): Promise<number>;
  /** The same, done when it returns. */
  writeNow(bytes: Buffer): number;
  /** Blocks the thread. */
  pause(forMs: number): void;
}

export function fileTarget(fd: number): LineTarget {
  return {
    write: async (bytes) => (await writeBytes(fd, bytes)).bytesWritten,
    writeNow: (bytes) => writeSync(fd, bytes),
    pause: (forMs) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, forMs),
  };
}

/**
 * Writes lines that were created within a few milliseconds in one piece, in another thread. Lines that cannot be written
 * wait, up to a limit: a process neither fails nor grows because of its log.
 */
export class LineWriter {
  readonly #target: LineTarget;
  readonly #clock: Clock;
  readonly #lossLine: (count: number) => string;
  readonly #onLost: () => void;
  #waiting = '';
  /** The bytes to write before `#waiting`; null while another thread writes them. */
  #piece: Buffer | null = null;
  #timer: Timer | null = null;
  #isWriting = false;
  #failures = 0;
  /** The reader of a pipe has gone. */
  #isUnread = false;
  #lost = 0;

  /**
   * @param options.lossLine The line that follows a loss, for the number of lost lines.
   * @param options.onLost Called for each lost line.
   */
  constructor(
    target: LineTarget,
    options: { clock: Clock; lossLine: (count: number) => string; onLost: () => void },
  ) {
    this.#target = target;
    this.#clock = options.clock;
    this.#lossLine = options.lossLine;
    this.#onLost = options.onLost;
  }

  /** @param line With its line feed. */
  write(line: string): void {
    if (this.#isUnread) return;
    if (this.#waiting.length + line.length > WAITING_CHARACTERS_MAX) {
      this.#lost += 1;
      this.#onLost();
    } else {
      this.#waiting += line;
    }
    if (this.#timer === null && !this.#isWriting) this.#writeLater();
  }

  /**
   * For a process that exits: writes all waiting lines before it returns. It gives up where no write succeeded for a
   * second, because one more could wait forever. Lines that another thread is writing may appear later.
   */
  writeNow(): void {
    for (let piece = this.#nextPiece(); piece !== null && !this.#isUnread; piece = this.#nextPiece()) {
      this.#piece = piece;
      if (this.#failures > EXIT_RETRIES_MAX) return;
      try {
        this.#piece = rest(piece, this.#target.writeNow(piece));
      } catch {
        this.#failures += 1;
        if (this.#failures <= EXIT_RETRIES_MAX) this.#target.pause(this.#retryMs());
      }
    }
  }

  #writeLater(): void {
    this.#timer = this.#clock.after(this.#failures === 0 ? JOINED_MS : this.#retryMs(), () => {
      this.#timer = null;
      void this.#writePiece();
    });
  }

  #retryMs(): number {
    return backoffDelayMs(RETRY, this.#failures - 1, () => 1);
  }

  async #writePiece(): Promise<void> {
    const piece = this.#nextPiece();
    if (piece === null) return;
    this.#piece = null;
    this.#isWriting = true;
    try {
      this.#piece = rest(piece, await this.#target.write(piece));
      this.#failures = 0;
    } catch (error) {
      this.#piece = piece;
      this.#failures += 1;
      this.#isUnread = (error as NodeJS.ErrnoException).code === 'EPIPE';
    }
    this.#isWriting = false;
    if (this.#isUnread || this.#failures > RETRIES_MAX) return;
    if (this.#piece !== null || this.#waiting !== '') this.#writeLater();
  }

  #nextPiece(): Buffer | null {
    if (this.#piece !== null) return this.#piece;
    if (this.#lost > 0) this.#waiting += this.#lossLine(this.#lost);
    this.#lost = 0;
    if (this.#waiting === '') return null;
    const piece = Buffer.from(this.#waiting);
    this.#waiting = '';
    return piece;
  }
}

function rest(piece: Buffer, written: number): Buffer | null {
  return written < piece.length ? piece.subarray(written) : null;
}
