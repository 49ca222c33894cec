/** Reads the recording of a run in spans of time, so that a run over many markets needs little memory. */
import { createHash } from 'node:crypto';
import type { Inputs } from '../core/run/definition.ts';
import type { RunTape, TickerTape } from '../core/run/runTape.ts';
import { TAPE_AFTER_MS, TAPE_BEFORE_MS, type TapeGap } from '../core/session/tape.ts';
import { resolutionOf } from '../core/session/tapeMarket.ts';
import { extentOf } from '../core/statistics/extent.ts';
import { decidingSource } from '../core/venueRules.ts';
import { TooMuchDataError } from '../runtime/errors.ts';
import type { UnderlyingSource } from '../schema/events.ts';
import type { Market, Ticker } from '../schema/market.ts';
import { loadPerpSpan, loadPriceSpan, loadTape } from '../store/queries/tapeReader.ts';
import { columnsHash, tapeHash } from '../store/tapeHash.ts';
import type { RunSegment } from './runTape.ts';
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

interface RecordingTerms {
  /** Oldest window first. */
  readonly markets: readonly Market[];
  readonly gaps: ReadonlyMap<string, readonly TapeGap[]>;
  readonly inputs: Inputs;
}

interface ReadProgress {
  /** Share of the spans that were passed on, 0..1. One more may have been read. */
  readonly share: number;
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
  #share = 0;

  constructor(source: TapeSource, terms: RecordingTerms, signal: AbortSignal) {
    this.#source = source;
    this.#terms = terms;
    this.#signal = signal;
  }

  get progress(): ReadProgress {
    return { share: this.#share, tooLarge: this.#tooLarge };
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
      this.#share = (at + 1) / spans.length;
      yield segment;
    }
  }

  async #read(span: Span): Promise<RunSegment> {
    this.#signal.throwIfAborted();
    const tapes = await inLanes(span.markets, (market) => this.#tape(market));
    const tickers = [...new Set(this.#terms.markets.map(({ ticker }) => ticker as Ticker))];
    return {
      markets: tapes.flatMap((read) => this.#hashed(read)),
      tickers: (await inLanes(tickers, (ticker) => this.#ticker(ticker, span))).flatMap((read) =>
        this.#hashed(read),
      ),
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
      const asked = { market, gaps, terms: { depth: DEPTH, prices: false, trades: true } };
      const tape = await loadTape(rows, asked, this.#signal);
      const resolution = resolutionOf(market);
      const value = { tape, resolution };
      return { value, hash: tapeHash(value.tape, resolution) };
    } catch (error) {
      if (!(error instanceof TooMuchDataError)) throw error;
      this.#tooLarge.push(market.marketId);
      return { value: null, hash: 'too_large' };
    }
  }

  async #ticker(ticker: Ticker, { fromMs, toMs }: Span): Promise<{ value: TickerTape; hash: string }> {
    const { rows } = this.#source;
    const times = { fromMs: fromMs - PRICE_LATE_MS, toMs };
    const prices = await inLanes(this.#sourcesOf(ticker), async (source) => {
      const read = await loadPriceSpan(rows, { ticker, source, ...times }, this.#signal);
      return read === null ? [] : [{ source, rows: read }];
    });
    const depth = await inLanes(this.#terms.inputs.perpDepth ?? [], (venue) =>
      loadPerpSpan(rows, { ticker, venue, fromMs, toMs }, this.#signal),
    );
    const perpDepth = depth.flat().sort((one, other) => one.seq - other.seq);
    // The first records of the span before were received earlier: `fromMs` only says when they are needed.
    const value = { ticker, fromMs, prices: prices.flat(), perpDepth };
    const columns = value.prices.map(({ source, rows: read }) => ({ [source]: read.seq, ...read }));
    return { value, hash: columnsHash(JSON.stringify({ ticker, perpDepth }), columns) };
  }

  /** The feeds that decide the ticker's markets, and those that the strategy asked for. */
  #sourcesOf(ticker: Ticker): UnderlyingSource[] {
    const { markets, inputs } = this.#terms;
    const deciding = markets.filter((market) => market.ticker === ticker).map(decidingSource);
    return [...new Set([...deciding, ...(inputs.priceSources ?? [])])].sort();
  }
}

interface Span {
  readonly fromMs: number;
  readonly toMs: number;
  /** Markets whose tape begins in the span. */
  readonly markets: readonly Market[];
}

function spansOf(markets: readonly Market[]): Span[] {
  const begins = markets.map(({ startTimeMs }) => startTimeMs - TAPE_BEFORE_MS);
  // At round times: another run over neighbouring markets reads the same spans, which may be cached.
  const firstMs = Math.floor(extentOf(begins)[0] / SPAN_MS) * SPAN_MS;
  // The last span ends with the last tape. Later prices concern no market of the run, and are perhaps not recorded yet.
  const [, lastMs] = extentOf(markets.map(({ endTimeMs }) => endTimeMs + TAPE_AFTER_MS));
  const spans: Span[] = [];
  for (let fromMs = firstMs; fromMs < lastMs; fromMs += SPAN_MS) {
    const toMs = Math.min(fromMs + SPAN_MS, lastMs);
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
