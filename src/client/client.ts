import { NoAnswerError, UnderroundError } from './errors.ts';
import { type AnswerOf, type ClientOptions, type InputOf, type OperationName, Requests } from './requests.ts';
import type { Operations } from './schema.ts';
import { messages, type StreamOptions } from './stream.ts';
import type { OpportunityMessage, StreamMessage, Subscription } from './streamMessages.ts';
import { readTape, type Tape, type TapeListing, type TapeOptions, tapeListings } from './tapes.ts';

/** Operations that answer page by page. */
type PagedName = {
  [K in OperationName]: K extends `GET ${string}`
    ? Operations[K]['answer'] extends { next_cursor: string | null }
      ? K
      : never
    : never;
}[OperationName];

/** The rows of a page: its one list. */
type RowOf<K extends PagedName> = {
  [P in keyof AnswerOf<K>]: AnswerOf<K>[P] extends readonly (infer Row)[] ? Row : never;
}[keyof AnswerOf<K>];

type QueryOf<K extends OperationName> = NonNullable<InputOf<K>['query']>;
type Job = AnswerOf<'GET /v1/backtest/{job_id}'>;

/** How often a backtest's job is read until it is finished. */
const JOB_POLL_MS = 1_000;

/** A client of one service. It holds no connection: streams and iterators end with their loops. */
export class Underround {
  readonly #requests: Requests;
  readonly #options: ClientOptions & StreamOptions;

  constructor(options: ClientOptions & StreamOptions) {
    this.#options = options;
    this.#requests = new Requests(options);
  }

  /** Calls any operation of the API by its name, e.g. `client.call('GET /v1/gaps', { query: { market_id } })`. */
  call<K extends OperationName>(operation: K, input: InputOf<K>): Promise<AnswerOf<K>> {
    return this.#requests.call(operation, input, async (response) =>
      response.status === 204 ? undefined : this.#requests.parsed(await response.text()),
    ) as Promise<AnswerOf<K>>;
  }

  /** The pages of a list. `limit` is the size of a page. */
  async *pages<K extends PagedName>(operation: K, input: InputOf<K>): AsyncGenerator<AnswerOf<K>, void> {
    let cursor: string | null = null;
    do {
      const query = cursor === null ? input.query : { ...(input.query as object), cursor };
      const page = (await this.call(operation, { ...input, query } as InputOf<K>)) as AnswerOf<K> & {
        next_cursor: string | null;
      };
      yield page;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  /** The rows of a list, over all of its pages. */
  async *rows<K extends PagedName>(operation: K, input: InputOf<K>): AsyncGenerator<RowOf<K>, void> {
    for await (const page of this.pages(operation, input)) {
      const rows = Object.values(page as object).find(Array.isArray) as RowOf<K>[];
      yield* rows;
    }
  }

  /** Markets, newest end first. */
  markets(query: QueryOf<'GET /v1/markets'> = {}, signal?: AbortSignal) {
    return this.rows('GET /v1/markets', { query, signal });
  }

  market(marketId: string, signal?: AbortSignal) {
    return this.call('GET /v1/markets/{market_id}', { path: { market_id: marketId }, signal });
  }

  /** The newest book, or the one in force at a time. */
  book(marketId: string, { at, signal }: { at?: string; signal?: AbortSignal } = {}) {
    const input = { path: { market_id: marketId }, query: { at }, signal };
    return this.call('GET /v1/markets/{market_id}/orderbook', input);
  }

  /** Every book change of a market. */
  snapshots(query: QueryOf<'GET /v1/snapshots'>, signal?: AbortSignal) {
    return this.rows('GET /v1/snapshots', { query, signal });
  }

  trades(query: QueryOf<'GET /v1/trades'>, signal?: AbortSignal) {
    return this.rows('GET /v1/trades', { query, signal });
  }

  gaps(query: QueryOf<'GET /v1/gaps'>, signal?: AbortSignal) {
    return this.rows('GET /v1/gaps', { query, signal });
  }

  /**
   * A whole recording as one streamed answer: faster than pages, and complete. An answer that breaks off raises an
   * error; it is not repeated, because rows were already given out.
   */
  async *exportRows<Row = Readonly<Record<string, unknown>>>(
    query: Omit<QueryOf<'GET /v1/export'>, 'format'>,
    signal?: AbortSignal,
  ): AsyncGenerator<Row, void> {
    const input = { query: { ...query, format: 'jsonl' as const }, signal };
    const response = await this.#requests.call('GET /v1/export', input, async (answer) => answer);
    for await (const line of lines(response, this.#requests.url, signal))
      yield this.#requests.parsed<Row>(line);
  }

  /** The markets of a series whose tapes can be read, oldest first. */
  tapeMarkets(query: QueryOf<'GET /v1/tapes/markets'>, signal?: AbortSignal): Promise<TapeListing[]> {
    return tapeListings(this.#requests, query, signal);
  }

  /** The recording of one market as `@underround/engine` reads it. */
  tape(listing: TapeListing, options: TapeOptions = {}): Promise<Tape> {
    return readTape(this.#requests, listing, options);
  }

  /**
   * Submits a backtest and waits until it is finished, failed or cancelled.
   * @throws {UnderroundError} After the submission it names the job, which the service may still run.
   */
  async backtest(
    body: InputOf<'POST /v1/backtest'>['body'],
    { signal, onProgress }: { signal?: AbortSignal; onProgress?: (job: Job) => void } = {},
  ): Promise<Job> {
    const submitted = (await this.call('POST /v1/backtest', { body, signal })) as { job_id: string };
    for (;;) {
      const path = { job_id: submitted.job_id };
      const job = await this.call('GET /v1/backtest/{job_id}', { path, signal }).catch((error: unknown) => {
        if (error instanceof UnderroundError) error.message += `, of job ${submitted.job_id}`;
        throw error;
      });
      if (job.status !== 'queued' && job.status !== 'running') return job;
      onProgress?.(job);
      await this.#requests.clock.sleep(JOB_POLL_MS, signal);
      signal?.throwIfAborted();
    }
  }

  /** Every book change of the subscribed markets, live. It reconnects, and continues where it was. */
  stream(
    subscription: Subscription,
    { cursor, signal }: { cursor?: string; signal?: AbortSignal } = {},
  ): AsyncGenerator<StreamMessage, void> {
    const place = { path: '/v1/stream', query: {}, subscription, cursor: cursor ?? null };
    return messages<StreamMessage>(this.#requests, this.#options, { ...place, signal });
  }

  /** The recording as if it were live, from `start` (inclusive) to `end` (exclusive), both receive times. */
  replay(
    subscription: Subscription,
    query: QueryOf<'GET /v1/replay'>,
    { cursor, signal }: { cursor?: string; signal?: AbortSignal } = {},
  ): AsyncGenerator<StreamMessage, void> {
    const place = { path: '/v1/replay', query, subscription, cursor: cursor ?? null };
    return messages<StreamMessage>(this.#requests, this.#options, { ...place, signal });
  }

  /** Every logical and endgame opportunity when it is detected. After a reconnection some may be missing: read the audit. */
  opportunities({
    tickers,
    signal,
  }: {
    tickers?: readonly string[];
    signal?: AbortSignal;
  } = {}): AsyncGenerator<OpportunityMessage, void> {
    const query = { ticker: tickers?.join(',') };
    const place = { path: '/v1/arb/ws', query, subscription: null, cursor: null };
    return messages<OpportunityMessage>(this.#requests, this.#options, { ...place, signal });
  }
}

/**
 * The lines of an answer as they arrive.
 * @throws {NoAnswerError} If the answer ends early.
 */
async function* lines(
  response: Response,
  url: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<string, void> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const parts = (rest + decoder.decode(value, { stream: !done })).split('\n');
      rest = parts.pop() ?? '';
      yield* parts;
      if (done) break;
    }
    // The service ends every row with a line feed.
    if (rest !== '') throw new Error('in the middle of a row');
  } catch (cause) {
    signal?.throwIfAborted();
    throw new NoAnswerError(`the answer of ${url} ended early: ${(cause as Error).message}`, { cause });
  } finally {
    // A reader that has enough ends the download.
    await reader.cancel().catch(() => undefined);
  }
}
