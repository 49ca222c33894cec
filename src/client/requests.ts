import { type ClientClock, machineClock } from './clock.ts';
import { ApiError, apiErrorOf, NoAnswerError, UnderroundError } from './errors.ts';
import type { Operations } from './schema.ts';
import { Silence } from './silence.ts';

/** How to reach a service. */
export interface ClientOptions {
  /** Address of the service, e.g. `https://books.example.com`. */
  readonly url: string;
  /** An API key. */
  readonly key: string;
  /** Default: the global one. */
  readonly fetch?: typeof fetch;
  readonly clock?: ClientClock;
  /** From 0 to 1, for pauses between tries. */
  readonly random?: () => number;
  /** Most tries of one request (default 5). */
  readonly triesMax?: number;
  /** Longest total pause between the tries of one request (default 60 s); a longer `Retry-After` is an error. */
  readonly waitMsMax?: number;
  /**
   * Time without an answer, or without the next bytes of one, after which a try has failed (default 90 s: a service
   * whose store hangs says so after 60 s). Infinity: never.
   */
  readonly timeoutMs?: number;
}

export type OperationName = keyof Operations;
export type AnswerOf<K extends OperationName> = Operations[K]['answer'];
type Given<K extends OperationName, Part extends 'path' | 'query'> = Operations[K][Part];

/** Parameters and body of an operation. */
export type InputOf<K extends OperationName> = {
  readonly query?: Given<K, 'query'> | undefined;
  readonly body?: Operations[K]['body'] | undefined;
  readonly signal?: AbortSignal | undefined;
} & (keyof Given<K, 'path'> extends never ? unknown : { readonly path: Given<K, 'path'> });

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;
const TIMEOUT_MS = 90_000;
const NOT_JSON =
  'its answer is not JSON; is it the address of an Underround service, or does a proxy answer?';

/** The pause before the try after `tries` failed ones: doubled each time, and shortened at random by up to half. */
export function pauseMs(tries: number, random: () => number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** (tries - 1), LONGEST_PAUSE_MS) * (1 - random() / 2);
}

/** Sends requests with the key, and repeats the ones that may be repeated. */
export class Requests {
  readonly url: string;
  readonly clock: ClientClock;
  readonly random: () => number;
  readonly key: string;
  readonly #fetch: typeof fetch;
  readonly #triesMax: number;
  readonly #waitMsMax: number;
  readonly #timeoutMs: number;

  /** @throws {TypeError} If the address is no URL, or the key is empty. */
  constructor(options: ClientOptions) {
    const { url, key, fetch: own, clock, random } = options;
    const { triesMax = 5, waitMsMax = 60_000, timeoutMs = TIMEOUT_MS } = options;
    if (!/^https?:$/.test(new URL(url).protocol)) throw new TypeError(`url ${url} must be http or https`);
    if (!/^[\x21-\x7e]+$/.test(key)) throw new TypeError('key must be an API key of the service');
    this.url = url.replace(/\/+$/, '');
    this.key = key;
    this.clock = clock ?? machineClock;
    this.random = random ?? (() => Math.random());
    // A detached `fetch` of a browser must be called on its window.
    this.#fetch = own ?? ((input, init) => fetch(input, init));
    this.#triesMax = triesMax;
    this.#waitMsMax = waitMsMax;
    this.#timeoutMs = timeoutMs;
  }

  /**
   * Calls one operation and reads its answer with `read`.
   * @throws {ApiError} For every answer other than a success, after the retries.
   * @throws {NoAnswerError} If no complete answer came.
   */
  async call<K extends OperationName, T>(
    operation: K,
    input: InputOf<K>,
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const [method = 'GET', path = '/'] = operation.split(' ');
    const address = this.address(path, input);
    let waitedMs = 0;
    for (let tries = 1; ; tries++) {
      try {
        return await this.#try(method, address, input, read);
      } catch (error) {
        const delayMs = this.#delayMs(method, error, tries);
        if (delayMs === null || tries >= this.#triesMax || waitedMs + delayMs > this.#waitMsMax) throw error;
        await this.clock.sleep(delayMs, input.signal);
        input.signal?.throwIfAborted();
        waitedMs += delayMs;
      }
    }
  }

  /** The value of a JSON text that was answered. @throws {NoAnswerError} If it is not JSON. */
  parsed<T>(text: string): T {
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new NoAnswerError(`no answer from ${this.url}: ${NOT_JSON}`, { cause });
    }
  }

  /** One read of an address, not repeated. */
  async read(address: string, signal: AbortSignal | undefined): Promise<void> {
    await this.#try('GET', address, { signal }, async ({ body }) => body?.cancel());
  }

  /** The URL of a path with its parameters. */
  address(path: string, input: { readonly path?: object; readonly query?: object | undefined } = {}): string {
    const filled = Object.entries(input.path ?? {}).reduce(
      (text, [name, value]) => text.replace(`{${name}}`, () => encodeURIComponent(String(value))),
      path,
    );
    const given = Object.entries(input.query ?? {}).filter(
      ([, value]) => value !== undefined && value !== null,
    );
    const query = new URLSearchParams(
      given.map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    return `${this.url}${filled}${query === '' ? '' : `?${query}`}`;
  }

  async #try<T>(
    method: string,
    address: string,
    { body, signal }: { body?: unknown; signal?: AbortSignal | undefined },
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.key}` };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const silence = new Silence(this.clock, this.#timeoutMs, signal);
    const init = { method, headers, signal: silence.signal };
    try {
      const response = await silence.answer(
        this.#fetch(address, body === undefined ? init : { ...init, body: JSON.stringify(body) }),
      );
      if (!response.ok) throw await apiErrorOf(response);
      return await read(response);
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof UnderroundError) throw cause;
      throw new NoAnswerError(`no answer from ${this.url}: ${reasonOf(cause as Error)}`, { cause });
    }
  }

  /** Null: no further try. Only a read is repeated after an error that leaves open whether it was processed. */
  #delayMs(method: string, error: unknown, tries: number): number | null {
    const refusedUnread = error instanceof ApiError && error.code === 'rate_limited';
    const mayPass =
      error instanceof NoAnswerError || (error instanceof ApiError && error.code === 'unavailable');
    if (!refusedUnread && !(mayPass && method === 'GET')) return null;
    const asked = error instanceof ApiError ? error.retryAfterMs : null;
    return asked ?? pauseMs(tries, this.random);
  }
}

/** With the cause's own reason: Node's `fetch` says only that it failed. */
function reasonOf({ message, cause }: Error): string {
  const { message: inner, code } = (cause ?? {}) as { message?: string; code?: string };
  const reason = inner || code;
  return reason ? `${message}: ${reason}` : message;
}
