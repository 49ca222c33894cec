import type { ClientClock } from './clock.ts';

/** A longer timer would end at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/**
 * Ends a request whose service has sent nothing for too long: a service that hangs, or a network that lost the
 * connection without closing it. `fetch` alone would wait for minutes, in browsers for ever.
 */
export class Silence {
  readonly #clock: ClientClock;
  readonly #limitMs: number;
  readonly #over = new AbortController();
  /** Of the request: aborts when the silence is too long, or with the caller's own signal. */
  readonly signal: AbortSignal;

  constructor(clock: ClientClock, limitMs: number, signal: AbortSignal | undefined) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.signal = signal ? AbortSignal.any([signal, this.#over.signal]) : this.#over.signal;
  }

  /** The answer, whose body fails if its next bytes take too long. A caller that is slow to read is no silence. */
  async answer(sent: Promise<Response>): Promise<Response> {
    const response = await this.#inTime(sent);
    if (response.body === null) return response;
    const reader = response.body.getReader();
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const { done, value } = await this.#inTime(reader.read());
          if (done) controller.close();
          else controller.enqueue(value);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  }

  async #inTime<T>(work: Promise<T>): Promise<T> {
    let cancel: (() => void) | undefined;
    const late = new Promise<never>((_, reject) => {
      if (this.#limitMs > TIMER_MS_MAX) return;
      cancel = this.#clock.after?.(this.#limitMs, () => {
        const error = new Error(`nothing was received for ${this.#limitMs / 1000} s`);
        reject(error);
        this.#over.abort(error);
      });
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      cancel?.();
    }
  }
}
