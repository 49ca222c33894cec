const WINDOW_MS = 1000;
/** Requests a second until the service has sent the rate of the reader's tier; the lowest rate is 10. */
const REQUESTS_MAX_AT_FIRST = 8;
/** Share of that rate that a page uses; the rest is for its sockets and downloads. */
const SHARE = 0.8;
const STORAGE_KEY = 'underround.requests';

interface RequestPaceOptions {
  /** Wall clock, Unix ms, because the next page of this tab reads the stored times. */
  readonly now: () => number;
  readonly after: (delayMs: number, run: () => void) => unknown;
  /** Like the browser's `sessionStorage`: one per tab. */
  readonly storage: {
    getItem(name: string): string | null;
    setItem(name: string, value: string): void;
  };
}

/**
 * Keeps the requests of one tab below the rate of the reader's tier, also across page loads, so that the service refuses
 * none. A request counts until a second after its answer. So the service never counts more requests in a second, however
 * long a request was in flight.
 */
export class RequestPace {
  readonly #options: RequestPaceOptions;
  #requestsMax = REQUESTS_MAX_AT_FIRST;
  #inFlight = 0;
  /** End times of the requests that still count, oldest first. */
  #endTimes: number[];
  #queue: Promise<unknown> = Promise.resolve();
  #onEnd: (() => void) | null = null;

  constructor(options: RequestPaceOptions) {
    this.#options = options;
    this.#endTimes = timesIn(options.storage.getItem(STORAGE_KEY));
  }

  /** Sends a request in its turn; a request that is aborted while it waits is not sent. */
  async send(request: () => Promise<Response>, signal?: AbortSignal): Promise<Response> {
    const turn = this.#queue.then(() => this.#claimPlace(signal));
    this.#queue = turn.catch(() => undefined);
    await turn;
    try {
      const response = await request();
      this.#readRate(response.headers);
      return response;
    } finally {
      this.#releasePlace();
    }
  }

  async #claimPlace(signal?: AbortSignal): Promise<void> {
    const { now, after } = this.#options;
    for (;;) {
      signal?.throwIfAborted();
      const nowMs = now();
      this.#endTimes = this.#endTimes.filter((timeMs) => timeMs <= nowMs && nowMs - timeMs < WINDOW_MS);
      if (this.#inFlight + this.#endTimes.length < this.#requestsMax) break;
      await new Promise<void>((resolve) => {
        this.#onEnd = resolve;
        const [oldest] = this.#endTimes;
        if (oldest !== undefined) after(oldest + WINDOW_MS - nowMs, resolve);
      });
    }
    this.#inFlight++;
    this.#save();
  }

  #releasePlace(): void {
    this.#inFlight--;
    this.#endTimes.push(this.#options.now());
    this.#save();
    this.#onEnd?.();
  }

  #readRate(headers: Headers): void {
    const [, requests] = /"second";q=(\d+)/.exec(headers.get('ratelimit-policy') ?? '') ?? [];
    if (requests !== undefined) this.#requestsMax = Math.max(1, Math.floor(Number(requests) * SHARE));
  }

  /** Requests in flight count as ended now: leaving the page aborts them. */
  #save(): void {
    const inFlight = Array<number>(this.#inFlight).fill(this.#options.now());
    this.#options.storage.setItem(STORAGE_KEY, JSON.stringify([...this.#endTimes, ...inFlight]));
  }
}

function timesIn(text: string | null): number[] {
  try {
    const times: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(times) ? times.filter((time) => typeof time === 'number') : [];
  } catch {
    return [];
  }
}

/** Returns a function that calls `run` at once; further calls within the interval cause one call at its end. */
export function atMostEvery(
  intervalMs: number,
  run: () => void,
  after: RequestPaceOptions['after'],
): () => void {
  let isPausing = false;
  let isDue = false;
  const call = () => {
    if (isPausing) {
      isDue = true;
      return;
    }
    isPausing = true;
    run();
    after(intervalMs, () => {
      isPausing = false;
      if (isDue) call();
    });
    isDue = false;
  };
  return call;
}
