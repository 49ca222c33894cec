import type { Writable } from 'node:stream';
import { InvalidInputError, UnderroundError } from '../runtime/errors.ts';
import type { CloseCause } from '../stream/connection.ts';
import type { ReplayClient } from '../stream/replay.ts';

/** The stream ended before the replay did. */
class ReplayEndedError extends UnderroundError {
  readonly code = 'transport_failed';
}

const TYPE = /^\{"type":"(\w+)"/;
const TYPE_CHARACTERS_MAX = 40;
/** Messages about the connection; they differ from run to run. */
const ABOUT_CONNECTION = new Set(['ready', 'ack', 'ping']);
const NEW_LINE = Buffer.from('\n');

/**
 * Prints the messages of a replay, one a line, and waits for a slow reader. It is a client of `Replay`, and prints the
 * messages of a remote one in the same way.
 */
export class ReplayOutput implements ReplayClient {
  onText: ((text: string) => void) | null = null;
  onClosed: (() => void) | null = null;
  onDrained: (() => void) | null = null;
  /** Resolves after the message `end`, and when the reader closes the output; rejects when the replay fails. */
  readonly done: Promise<void>;
  readonly #out: Writable;
  #printed = 0;
  #isOver = false;
  #resolve!: () => void;
  #reject!: (error: unknown) => void;
  readonly #onDrain = () => this.onDrained?.();
  readonly #onError = (error: NodeJS.ErrnoException) => {
    // A reader such as `head` that has enough is no failure.
    this.#finish(error.code === 'EPIPE' ? null : error);
  };

  constructor(out: Writable, signal: AbortSignal) {
    this.#out = out;
    this.done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // Awaited after the replay began: it must not count as unhandled before.
    this.done.catch(() => undefined);
    out.on('drain', this.#onDrain).on('error', this.#onError);
    signal.addEventListener('abort', () => this.#finish(signal.reason), { once: true });
  }

  get isPressed(): boolean {
    return !this.#isOver && this.#out.writableNeedDrain;
  }

  send(message: Buffer): void {
    if (this.#isOver) return;
    const [, type = ''] = TYPE.exec(message.toString('latin1', 0, TYPE_CHARACTERS_MAX)) ?? [];
    if (ABOUT_CONNECTION.has(type)) return;
    if (type === 'error') {
      const { detail } = JSON.parse(message.toString()) as { detail: string };
      this.#finish(new InvalidInputError(detail));
    } else if (type === 'end' && this.#printed === 0) {
      this.#finish(new InvalidInputError('nothing was recorded of these markets in this range'));
    } else {
      this.#printed++;
      this.#out.write(Buffer.concat([message, NEW_LINE]));
      if (type === 'end') this.#finish(null);
    }
  }

  answer(text: string): void {
    this.send(Buffer.from(text));
  }

  close(cause: CloseCause, error?: unknown): void {
    this.fail(error ?? new Error(`the replay was closed: ${cause}`));
  }

  /** Ends the output with an error, unless it is over already. */
  fail(error: unknown): void {
    this.#finish(error);
  }

  /** The same for a connection that ended. */
  closed(code: number, reason: string): void {
    const shown = reason === '' ? `code ${code}` : `code ${code}, ${reason}`;
    this.#finish(new ReplayEndedError(`the service closed the replay before its end (${shown})`));
  }

  #finish(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#out.off('drain', this.#onDrain);
    if (error === null) this.#resolve();
    else this.#reject(error);
    this.onClosed?.();
  }
}
