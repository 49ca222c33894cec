/** Reads the recording of a run in spans of time, so that a run over many markets needs little memory. */
import { createHash } from 'node:crypto';
import type { Inputs } from '../core/run/definition.ts';
import { TAPE_BEFORE_MS, type TapeGap } from '../core/session/tape.ts';
import { decidingSource } from '../core/venueRules.ts';
import { TooMuchDataError } from '../runtime/errors.ts';
import type { UnderlyingSource } from '../schema/events.ts';
import type { Market, Ticker } from '../schema/market.ts';
import {
  loadPerpSpan,
  loadPriceSpan,
  loadTape,
  loadTrades,
  resolutionOf,
  TAPE_AFTER_MS,
} from '../store/queries/tapeReader.ts';
import { columnsHash, tapeHash } from '../store/tapeHash.ts';
import type { PerpTape, PriceTape, RunSegment, RunTape } from './runTape.ts';
import type { TapeSource } from './tapeSource.ts';

/** Length of a span: at 40 book changes a second, the tapes that begin in it are some 70 MB for each series. */
const SPAN_MS = 1_800_000;
/** Records of two feeds may be stored in another order than their receive times, by less than this. */
const DISORDER_MS = 10_000;
/** A price is received at most this much later than its own time, except after an outage. */
const PRICE_LATE_MS = 600_000;
/** Tapes read at once. */
const READS_AT_ONCE = 3;
/** Levels for each side: as deep as the largest positions of a backtest. */
const DEPTH = 200;

export interface RecordingTerms {
  /** Oldest window first. */
  readonly markets: readonly Market[];
  readonly gaps: ReadonlyMap<string, readonly TapeGap[]>;
  readonly inputs: Inputs;
}

/** What was read so far. */
export interface ReadProgress {
  readonly marketsRead: number;
  /** Markets whose recording exceeds the limits of a replay. */
  readonly tooLarge: readonly string[];
}

/** Reads a recording once, from its first record to its last. */
export class RecordingFeed {
  readonly #source: TapeSource;
  readonly #terms: RecordingTerms;
  readonly #signal: AbortSignal;
  readonly #hash = createHash('sha256');
  readonly #tooLarge: string[] = [];
  #marketsRead = 0;

  constructor(source: TapeSource, terms: RecordingTerms, signal: AbortSignal) {
    this.#source = source;
    this.#terms = terms;
    this.#signal = signal;
  }

  get progress(): ReadProgress {
    return { marketsRead: this.#marketsRead, tooLarge: this.#tooLarge };
  }

  /** SHA-256 over everything that was read. */
  dataHash(): string {
    return this.#hash.copy().digest('hex');
  }

  /** The parts of the recording in order; the next one is read while one is processed. */
  async *segments(): AsyncGenerator<RunSegment> {
    const spans = spansOf(this.#terms.markets);
    let next = spans[0] === undefined ? null : this.#read(spans[0]);
    for (let at = 0; next !== null; at++) {
      const segment: RunSegment = await next;
      const following = spans[at + 1];
      next = following === undefined ? null : this.#read(following);
      // Its failure is reported when it is awaited.
      next?.catch(() => undefined);
      yield segment;
    }
  }

  async #read(span: Span): Promise<RunSegment> {
    this.#signal.throwIfAborted();
    const tapes = await inLanes(span.markets, (market) => this.#tape(market));
    const prices = await inLanes(this.#feeds(), (feed) => this.#prices(feed, span));
    const perpDepth = await inLanes(this.#venues(), (venue) => this.#perpDepth(venue, span));
    return {
      markets: tapes.flatMap((read) => this.#hashed(read)),
      prices: prices.flatMap((read) => this.#hashed(read)),
      perpDepth: perpDepth.flatMap((read) => this.#hashed(read)),
      beforeMs: span.toMs - DISORDER_MS,
    };
  }

  #hashed<T>(read: { readonly value: T | null; readonly hash: string }): T[] {
    this.#hash.update(`${read.hash}\n`);
    return read.value === null ? [] : [read.value];
  }

  async #tape(market: Market): Promise<{ value: RunTape | null; hash: string }> {
    const gaps = this.#terms.gaps.get(market.marketId) ?? [];
    const { rows } = this.#source;
    try {
      const asked = { market, gaps, terms: { depth: DEPTH, prices: false } };
      const [tape, trades] = await Promise.all([
        loadTape(rows, asked, this.#signal),
        loadTrades(rows, { market }, this.#signal),
      ]);
      const resolution = resolutionOf(market);
      const value = { tape: { ...tape, trades }, resolution };
      return { value, hash: tapeHash(value.tape, resolution) };
    } catch (error) {
      if (!(error instanceof TooMuchDataError)) throw error;
      this.#tooLarge.push(market.marketId);
      return { value: null, hash: 'too_large' };
    } finally {
      this.#marketsRead++;
    }
  }

  async #prices(feed: PriceFeed, span: Span): Promise<{ value: PriceTape | null; hash: string }> {
    const times = { fromMs: span.fromMs - PRICE_LATE_MS, toMs: span.toMs };
    const prices = await loadPriceSpan(this.#source.rows, { ...feed, ...times }, this.#signal);
    const hash = columnsHash(JSON.stringify({ ...feed, ...times }), [prices ?? {}]);
    return { value: prices === null ? null : { ...feed, prices }, hash };
  }

  async #perpDepth(
    venue: Pick<PerpTape, 'ticker' | 'venue'>,
    span: Span,
  ): Promise<{ value: PerpTape; hash: string }> {
    const rows = await loadPerpSpan(this.#source.rows, { ...venue, ...span }, this.#signal);
    return { value: { ...venue, rows }, hash: columnsHash(JSON.stringify(rows), []) };
  }

  /** The feeds that decide the markets, and those that the strategy asked for. */
  #feeds(): PriceFeed[] {
    const { markets, inputs } = this.#terms;
    const tickers = [...new Set(markets.map(({ ticker }) => ticker as Ticker))];
    const asked = tickers.flatMap((ticker) =>
      (inputs.priceSources ?? []).map((source) => ({ ticker, source })),
    );
    const deciding = markets.map((market) => ({
      ticker: market.ticker as Ticker,
      source: decidingSource(market),
    }));
    const feeds = new Map([...deciding, ...asked].map((feed) => [`${feed.ticker} ${feed.source}`, feed]));
    return [...feeds].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, feed]) => feed);
  }

  #venues(): Pick<PerpTape, 'ticker' | 'venue'>[] {
    const { markets, inputs } = this.#terms;
    const tickers = [...new Set(markets.map(({ ticker }) => ticker as Ticker))];
    return tickers.flatMap((ticker) => (inputs.perpDepth ?? []).map((venue) => ({ ticker, venue })));
  }
}

interface PriceFeed {
  readonly ticker: Ticker;
  readonly source: UnderlyingSource;
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  /** Markets whose tape begins in the span. */
  readonly markets: readonly Market[];
}

function spansOf(markets: readonly Market[]): Span[] {
  const begins = markets.map(({ startTimeMs }) => startTimeMs - TAPE_BEFORE_MS);
  const firstMs = Math.min(...begins);
  const lastMs = Math.max(...markets.map(({ endTimeMs }) => endTimeMs + TAPE_AFTER_MS));
  const spans: Span[] = [];
  for (let fromMs = firstMs; fromMs < lastMs; fromMs += SPAN_MS) {
    const toMs = fromMs + SPAN_MS;
    const within = markets.filter(
      (_, at) => (begins[at] as number) >= fromMs && (begins[at] as number) < toMs,
    );
    spans.push({ fromMs, toMs, markets: within });
  }
  return spans;
}

/** Maps in order, a few at a time. */
async function inLanes<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const lane = async () => {
    while (next < items.length) {
      const at = next++;
      results[at] = await run(items[at] as T);
    }
  };
  await Promise.all(Array.from({ length: READS_AT_ONCE }, lane));
  return results;
}
