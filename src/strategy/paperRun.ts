/**
 * A strategy file on the live stream of a service. It reads what the service has stored since it last asked, a moment
 * after it was received. Its state is never stored: a run that goes on reads the recording from its start again.
 */
import { Readable } from 'node:stream';
import type { Inputs } from '../core/run/definition.ts';
import type { TickerTape } from '../core/run/runTape.ts';
import { BEFORE_FIRST_SEQ, TAPE_AFTER_MS, TAPE_BEFORE_MS } from '../core/session/tape.ts';
import { resolutionOf, tapeMarketOf } from '../core/session/tapeMarket.ts';
import { decidingSource } from '../core/venueRules.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import type { EventType, Market, Ticker } from '../schema/market.ts';
import { SEQS_PER_MILLISECOND } from '../schema/records.ts';
import {
  loadPerpSpan,
  loadPriceSpan,
  loadTape,
  type SeqRange,
  type TapeRows,
} from '../store/queries/tapeReader.ts';
import { type PaperLine, PrintedFacts } from './paperLines.ts';
import type { MarketsRead } from './remoteTapes.ts';
import type { MarketPart } from './runTape.ts';
import type { StrategyThreads } from './strategyThreads.ts';
import type { TapeSource } from './tapeSource.ts';

/** Records of two feeds may be stored in another order than their receive times, by less than this. */
const DISORDER_MS = 2_000;
/** Length of a stretch of the past. */
const STRETCH_MS = 1_800_000;
/** A day on which the venue's clocks are set back. */
const LONGEST_WINDOW_MS = 25 * 3_600_000;
/** Windows of one series that a stretch reads: the newest, some three days of the shortest ones. */
const MARKETS_MAX = 1_000;
/** A price whose own time is further than this from its receipt is left out. */
const PRICE_APART_MS = 86_400_000;
/** For a stretch in which a market has no rows. */
const NO_ROWS: TapeRows = { stream: async () => Readable.from([]) };
/** As deep as the books of a backtest. */
const DEPTH = 200;

export interface LiveSource extends Pick<TapeSource, 'gaps' | 'rows'> {
  readMarkets(
    universe: { readonly ticker: Ticker; readonly event_type: EventType },
    range: { readonly startMs: number | null; readonly endMs: number | null; readonly limit: number },
  ): Promise<MarketsRead>;
}

interface PaperRunOptions {
  readonly source: LiveSource;
  /** With a live run begun. */
  readonly threads: Pick<StrategyThreads, 'process'>;
  readonly inputs: Inputs;
  readonly tickers: readonly Ticker[];
  readonly eventTypes: readonly EventType[];
  /** When the run began. */
  readonly startMs: number;
  /** Lines that the run printed before it ended; empty for a new one. */
  readonly printed: readonly string[];
  readonly signal: AbortSignal;
}

export class PaperRun {
  readonly #options: PaperRunOptions;
  readonly #facts = new PrintedFacts();
  /** Lines of the printed ones that came again. */
  #repeated = 0;
  #afterSeq = BEFORE_FIRST_SEQ;
  /** End of the oldest window that was read and is not paid out yet. */
  #unresolvedMs = Number.POSITIVE_INFINITY;
  /** Everything received before this time was processed. */
  #processedMs = 0;

  constructor(options: PaperRunOptions) {
    this.#options = options;
    for (const text of options.printed) this.#facts.add(JSON.parse(text) as PaperLine);
  }

  /**
   * Processes the rows stored since the last call, stretch by stretch. After a call that failed, the next call continues
   * where the last complete stretch ended.
   * @returns The new lines of each stretch.
   * @throws {InvalidInputError} If a line differs from the one that was printed.
   */
  async *advance(): AsyncGenerator<string[], void, undefined> {
    for (let isBehind = true; isBehind; ) {
      const endSeq = this.#stretchEnd();
      const { markets, storedSeq } = await this.#markets(endSeq / SEQS_PER_MILLISECOND);
      if (storedSeq <= this.#afterSeq) return;
      isBehind = endSeq < storedSeq;
      const toSeq = Math.min(storedSeq, endSeq);
      const lines = await this.#stretch(markets, { afterSeq: this.#afterSeq, toSeq });
      this.#afterSeq = toSeq;
      yield lines;
    }
  }

  /** The markets of a stretch that ends at a time, and those whose outcome is awaited. */
  async #markets(toMs: number): Promise<{ markets: Market[]; storedSeq: number }> {
    const { source, tickers, eventTypes } = this.#options;
    const fromMs = this.#afterSeq / SEQS_PER_MILLISECOND - TAPE_AFTER_MS;
    const startMs = Math.max(this.#options.startMs, Math.min(fromMs, this.#unresolvedMs));
    const endMs = toMs + TAPE_BEFORE_MS + LONGEST_WINDOW_MS + 1;
    const range = { startMs, endMs, limit: MARKETS_MAX };
    const markets: Market[] = [];
    let storedSeq = Number.MAX_SAFE_INTEGER;
    for (const ticker of tickers) {
      for (const event_type of eventTypes) {
        const read = await source.readMarkets({ ticker, event_type }, range);
        markets.push(...read.markets);
        storedSeq = Math.min(storedSeq, read.storedSeq);
      }
    }
    markets.sort((a, b) => a.startTimeMs - b.startTimeMs || (a.marketId < b.marketId ? -1 : 1));
    return { markets, storedSeq };
  }

  #stretchEnd(): number {
    const startSeq = this.#options.startMs * SEQS_PER_MILLISECOND;
    return Math.max(startSeq, this.#afterSeq + STRETCH_MS * SEQS_PER_MILLISECOND);
  }

  async #stretch(markets: readonly Market[], stretch: SeqRange): Promise<string[]> {
    const { threads } = this.#options;
    const toMs = stretch.toSeq / SEQS_PER_MILLISECOND;
    const fromMs = stretch.afterSeq / SEQS_PER_MILLISECOND;
    const read: MarketPart[] = [];
    for (const market of markets) {
      const { startTimeMs, endTimeMs } = market;
      if (startTimeMs - TAPE_BEFORE_MS > toMs) continue;
      const hasRows = endTimeMs + TAPE_AFTER_MS >= fromMs;
      // Until a market is paid out, gaps of it may still be detected.
      if (hasRows || this.#isAwaited(market, fromMs))
        read.push(await this.#tape(market, stretch, hasRows ? this.#options.source.rows : NO_ROWS));
    }
    const tickers: TickerTape[] = [];
    for (const ticker of this.#options.tickers) tickers.push(await this.#ticker(ticker, markets, stretch));
    const beforeMs = toMs - DISORDER_MS;
    const { lines } = await threads.process({ markets: read, tickers, beforeMs });
    this.#processedMs = Math.max(this.#processedMs, beforeMs);
    const checked = lines.flatMap((line) => this.#checked(line));
    const awaited = markets.filter((market) => this.#isAwaited(market, toMs));
    this.#unresolvedMs = Math.min(...awaited.map(({ endTimeMs }) => endTimeMs));
    return checked;
  }

  /** Whether a market was not paid out before a time. */
  #isAwaited({ marketId }: Market, timeMs: number): boolean {
    const paidMs = this.#facts.paidMs(marketId);
    return paidMs === null || paidMs >= timeMs;
  }

  async #tape(market: Market, stretch: SeqRange, from: TapeRows): Promise<MarketPart> {
    const { source, signal } = this.#options;
    const gaps = (await source.gaps([market.marketId])).get(market.marketId) ?? [];
    const terms = { depth: DEPTH, prices: false, trades: true };
    const known = gaps.filter(({ knownSeq = 0 }) => knownSeq <= stretch.toSeq);
    const rows = await loadTape(from, { market, gaps: known, terms, stretch }, signal);
    const floorMs = Math.max(this.#processedMs, this.#facts.timeMs);
    return {
      tape: { ...rows, market: this.#facts.market(tapeMarketOf(market), floorMs) },
      resolution: this.#facts.resolution(market.marketId, resolutionOf(market), floorMs),
      paidMs: this.#facts.paidMs(market.marketId),
    };
  }

  async #ticker(ticker: Ticker, markets: readonly Market[], stretch: SeqRange): Promise<TickerTape> {
    const { source, inputs, startMs, signal } = this.#options;
    const oldestMs = Math.floor(stretch.afterSeq / SEQS_PER_MILLISECOND) - PRICE_APART_MS;
    const fromMs = Math.max(startMs - TAPE_BEFORE_MS, oldestMs);
    const toMs = Math.ceil(stretch.toSeq / SEQS_PER_MILLISECOND) + PRICE_APART_MS;
    const span = { fromMs, toMs, stretch };
    const deciding = markets.filter((market) => market.ticker === ticker).map(decidingSource);
    const prices: TickerTape['prices'][number][] = [];
    for (const feed of [...new Set([...deciding, ...(inputs.priceSources ?? [])])].sort()) {
      const rows = await loadPriceSpan(source.rows, { ticker, source: feed, ...span }, signal);
      if (rows !== null) prices.push({ source: feed, rows });
    }
    const depth: TickerTape['perpDepth'][number][] = [];
    for (const venue of inputs.perpDepth ?? []) {
      depth.push(...(await loadPerpSpan(source.rows, { ticker, venue, ...span }, signal)));
    }
    depth.sort((one, other) => one.seq - other.seq);
    return { ticker, fromMs: span.fromMs, prices, perpDepth: depth };
  }

  /** A line that was printed must come again as it was. @returns The line if it is new. */
  #checked(line: PaperLine): string[] {
    const text = JSON.stringify(line);
    const printed = this.#options.printed[this.#repeated];
    if (printed === undefined) {
      this.#facts.add(line);
      return [text];
    }
    this.#repeated++;
    // Its facts are known, and newer ones of the same market too.
    if (printed === text) return [];
    throw new InvalidInputError(
      `line ${this.#repeated} of the run differs now; the recording, or something outside the file, has changed. Printed: ${printed} Now: ${text}`,
    );
  }
}
