/** Reads the recording of a service, with an API key. */
import { Readable } from 'node:stream';
import { buffer as bufferOf } from 'node:stream/consumers';
import { FairQueue } from '../core/fairQueue.ts';
import type { TapeGap } from '../core/session/tape.ts';
import { backoffDelayMs } from '../runtime/backoff.ts';
import { type Clock, sleep } from '../runtime/clock.ts';
import { InvalidInputError, TransportError } from '../runtime/errors.ts';
import { unframed } from '../runtime/hashedFrames.ts';
import type { Universe } from '../schema/backtest.ts';
import type { Market } from '../schema/market.ts';
import { formatTime } from '../schema/time.ts';
import { TAPE_STATEMENTS } from '../store/queries/tapes.ts';
import type { TapeCache } from './tapeCache.ts';
import type { TapeSource } from './tapeSource.ts';

interface RemoteAnswer {
  readonly status: number;
  /** Seconds of `Retry-After`; null without it. */
  readonly retryAfterS: number | null;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Sends a GET request. @throws If no answer arrives. */
export type Ask = (path: string, signal: AbortSignal) => Promise<RemoteAnswer>;

interface RemoteOptions {
  /** Names the service in the cache. */
  readonly url: string;
  readonly ask: Ask;
  readonly clock: Clock;
  /** Null: nothing is cached. */
  readonly cache: TapeCache | null;
  readonly signal: AbortSignal;
  /** Receives a sentence about each try that failed, before the next one. */
  readonly onRetry?: (sentence: string) => void;
}

const TRIES = 6;
const RETRY_MS = 500;
const RETRY_MS_MAX = 30_000;
const IS_IT_OURS = 'is this the address of an Underround service, or does a proxy answer?';
const FETCH_FAILED = 'fetch failed';
/** Answers read at once: as many as every tier with this feature may have. */
const AT_ONCE = 2;
/** A tape is final when its last record is this old: gaps and late rows are stored by then. */
const FINAL_AFTER_MS = 3_600_000;

/** A market's line of `/v1/tapes/markets`. */
interface MarketLine {
  readonly market: Market;
  readonly gaps: readonly TapeGap[];
}

export interface MarketsRead {
  /** Every record with this arrival number or a lower one can be read. */
  readonly storedSeq: number;
  readonly markets: readonly Market[];
}

export class RemoteTapes implements TapeSource {
  readonly #options: RemoteOptions;
  readonly #queue = new FairQueue(AT_ONCE);
  readonly #gaps = new Map<string, TapeGap[]>();
  #recording: string | null = null;

  constructor(options: RemoteOptions) {
    this.#options = options;
  }

  readonly rows: TapeSource['rows'] = {
    stream: async (query, params, { signal }) => {
      const path = `/v1/tapes?${tapeQuery(query, params)}`;
      const aborting = signal ?? this.#options.signal;
      return Readable.from([await this.#queue.run('', () => this.#tape(path, params, aborting))]);
    },
  };

  async markets(
    universe: Universe,
    range: { readonly startMs: number | null; readonly endMs: number; readonly limit: number },
  ): Promise<Market[]> {
    return [...(await this.readMarkets(universe, range)).markets];
  }

  async readMarkets(
    { ticker, event_type }: Universe,
    { startMs, endMs, limit }: { startMs: number | null; endMs: number | null; limit: number },
  ): Promise<MarketsRead> {
    const words = new URLSearchParams({ ticker, event_type, limit: String(limit) });
    if (startMs !== null) words.set('start', formatTime(startMs));
    if (endMs !== null) words.set('end', formatTime(endMs));
    const path = `/v1/tapes/markets?${words}`;
    const { head, markets } = await this.#retrying(path, this.#options.signal, readMarketLines);
    const { stored_seq, recording } = head;
    this.#recording = recording;
    for (const { market, gaps } of markets) this.#gaps.set(market.marketId, [...gaps]);
    return { storedSeq: stored_seq, markets: markets.map(({ market }) => market) };
  }

  async gaps(marketIds: readonly string[]): Promise<Map<string, TapeGap[]>> {
    return new Map(marketIds.map((marketId) => [marketId, this.#gaps.get(marketId) ?? []]));
  }

  async #tape(path: string, params: Record<string, unknown>, signal: AbortSignal): Promise<Buffer> {
    const { cache, clock, url } = this.#options;
    const isFinal = Number(params.to_ms) < clock.now() - FINAL_AFTER_MS;
    const key = `${url} ${this.#recording} ${path}`;
    const cached = cache !== null && isFinal ? await cache.read(key) : null;
    if (cached !== null) return cached;
    const bytes = await this.#retrying(path, signal, async (body) => bufferOf(Readable.from(unframed(body))));
    if (cache !== null && isFinal) await cache.write(key, bytes);
    return bytes;
  }

  /** Asks again after an answer that was cut or refused for now. */
  async #retrying<T>(
    path: string,
    signal: AbortSignal,
    read: (body: AsyncIterable<Uint8Array>) => Promise<T>,
  ): Promise<T> {
    const { ask, clock, url, onRetry } = this.#options;
    for (let tries = 1; ; tries++) {
      let waitMs = backoffDelayMs({ firstMs: RETRY_MS, maxMs: RETRY_MS_MAX }, tries - 1, () => 1);
      let cause: unknown;
      try {
        const answer = await ask(path, signal);
        if (answer.status === 200) return await read(answer.body);
        const detail = await detailOf(answer);
        if (answer.status !== 429 && answer.status < 500) throw new InvalidInputError(`${url}: ${detail}`);
        cause = new TransportError(detail);
        if (answer.retryAfterS !== null) waitMs = Math.min(RETRY_MS_MAX, 1_000 * answer.retryAfterS);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof InvalidInputError) throw error;
        cause = error;
      }
      const reason = reasonOf(cause as Error);
      if (tries === TRIES) {
        const next = 'check that the service runs and that this is its address, then repeat the command';
        const message = `${url} did not answer completely, ${TRIES} times: ${reason}; ${next}`;
        throw new TransportError(message, { cause });
      }
      onRetry?.(`${url}: ${reason}; try ${tries + 1} of ${TRIES} follows in ${waitMs / 1_000} s`);
      await sleep(clock, waitMs, signal);
      signal.throwIfAborted();
    }
  }
}

/** Reads an answer of `/v1/tapes/markets`. */
async function readMarketLines(
  body: AsyncIterable<Uint8Array>,
): Promise<{ head: { stored_seq: number; recording: string }; markets: MarketLine[] }> {
  const text = (await bufferOf(Readable.from(body))).toString();
  const [head, ...lines] = text.trimEnd().split('\n');
  try {
    return { head: JSON.parse(head ?? ''), markets: lines.map((line) => JSON.parse(line) as MarketLine) };
  } catch (cause) {
    throw new TransportError(`its answer is not JSON; ${IS_IT_OURS}`, { cause });
  }
}

/** With the cause's own reason: Node's `fetch` says only that it failed. */
function reasonOf({ message, cause }: Error): string {
  const { message: inner } = (cause ?? {}) as { message?: string };
  return message === FETCH_FAILED && inner ? inner : message;
}

function tapeQuery(query: string, params: Record<string, unknown>): string {
  const dataset = Object.entries(TAPE_STATEMENTS).find(([, statement]) => statement.query === query)?.[0];
  if (dataset === undefined) throw new TypeError('a service answers only the statements of tapes');
  const { from_ms, to_ms, ...others } = params;
  const words = new URLSearchParams({ dataset });
  words.set('start', formatTime(Number(from_ms)));
  words.set('end', formatTime(Number(to_ms)));
  for (const [name, value] of Object.entries(others)) words.set(name, String(value));
  return words.toString();
}

async function detailOf({ status, body }: RemoteAnswer): Promise<string> {
  const text = (await bufferOf(Readable.from(body))).toString();
  try {
    const { detail } = JSON.parse(text) as { detail: unknown };
    return `${status} ${typeof detail === 'string' ? detail : JSON.stringify(detail)}`;
  } catch {
    return `its answer has status ${status} and is not JSON; ${IS_IT_OURS}`;
  }
}
