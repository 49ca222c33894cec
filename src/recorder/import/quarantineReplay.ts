import type { Clock, Timer } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { UnderlyingSource } from '../../schema/events.ts';
import type { Market, Ticker } from '../../schema/market.ts';
import { normalMarketId } from '../../schema/protocol.ts';
import {
  type BookRecord,
  forward,
  type QuoteRecord,
  type RecordSink,
  recordSink,
  type UnderlyingRecord,
} from '../../schema/records.ts';
import type { QuarantinedFrame } from '../../venues/drift/quarantine.ts';
import { PERP_FEEDS } from '../../venues/perpVenue.ts';
import { Recorder } from '../recorder.ts';
import { FrameRouter, type RoutedFeed } from './frameRouter.ts';

/**
 * The router's name for each set-aside feed that it decodes. Other answers are requested again anyway and are kept for
 * reading; depth of Binance and OKX names no symbol, so nobody can say which book it was.
 */
const ROUTES: ReadonlyMap<string, RoutedFeed> = new Map<string, RoutedFeed>([
  ['polymarket.clob', 'polymarket.clob'],
  ['polymarket.gamma', 'polymarket.gamma'],
  ['polymarket.rtds', 'polymarket.rtds'],
  ['polymarket.polybolt', 'polymarket.polybolt'],
  [PERP_FEEDS.bybit, 'bybit.rest'],
  ['bybit.ws', 'bybit.ws'],
  [PERP_FEEDS.hyperliquid, 'hyperliquid.rest'],
  ['binance', 'binance'],
  ['coinbase', 'coinbase'],
]);
/** Feeds of which the recorder counts every message that it ignores, or whose listings may change nothing. */
const IGNORED_ARE_COUNTED: ReadonlySet<string> = new Set(['polymarket.clob', 'polymarket.gamma']);
const MARKET_IDS = /"(?:market|conditionId)"\s*:\s*"(0x[0-9a-fA-F]{1,64})"/g;

/** A stretch of the prices of one asset from one source. */
interface PriceSpan {
  readonly ticker: Ticker;
  readonly source: UnderlyingSource;
  readonly fromMs: number;
  readonly toMs: number;
}

interface QuarantineReplayOptions {
  readonly sink: RecordSink;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Loads the stored record of a market; null without one. */
  readonly loadMarket: (marketId: string) => Promise<Market | null>;
  /** The venue's times of the stored prices of a series, from and until these times, both included. */
  readonly loadPriceTimes: (span: PriceSpan) => Promise<readonly number[]>;
}

/** Sends set-aside frames through the decoder of live feeds and imports again, and records those that it accepts now. */
export class QuarantineReplay {
  readonly #options: QuarantineReplayOptions;
  readonly #clock = new ArrivalClock();
  readonly #recorder: Recorder;
  readonly #router: FrameRouter;
  /** Prices of the replayed frames: another feed may have brought, and the store may have, the same points. */
  readonly #prices: UnderlyingRecord[] = [];
  /** Prices and depths decoded so far, also those that changed nothing. */
  #decoded = 0;

  constructor(options: QuarantineReplayOptions) {
    this.#options = options;
    const { log, metrics } = options;
    const sink = this.#lateRows(options.sink);
    this.#recorder = new Recorder({ clock: this.#clock, log, metrics, sink, timeBy: 'receipt' });
    this.#router = new FrameRouter({ recorder: this.#recorder, log });
    this.#recorder.onUnderlying = () => {
      this.#decoded++;
    };
  }

  /**
   * Replays frames once. A frame that is cut, that no decoder reads, whose market has no listing, or that changes
   * nothing is left. The last are changes without the book before them.
   * @param frames In order of receipt.
   * @returns The accepted frames; their rows are with the sink.
   */
  async run(frames: readonly QuarantinedFrame[]): Promise<QuarantinedFrame[]> {
    const { drift } = this.#recorder;
    const accepted: QuarantinedFrame[] = [];
    for (const frame of frames) {
      const { feed, text, receivedTimeMs, wasCut } = frame;
      this.#clock.timeMs = Math.max(this.#clock.timeMs, receivedTimeMs);
      const route = ROUTES.get(feed);
      if (wasCut || route === undefined) continue;
      const areListed = await this.#resumeMarkets(text);
      if (feed === 'polymarket.clob' && !areListed) continue;
      const before = {
        ...{ setAside: drift.setAsideCount, rejected: this.#router.rejected },
        ...{ ignored: this.#recorder.ignoredCount, decoded: this.#decoded },
      };
      this.#router.route(route, text, receivedTimeMs);
      if (drift.setAsideCount !== before.setAside || this.#router.rejected !== before.rejected) continue;
      const ignored = this.#recorder.ignoredCount - before.ignored;
      // The router ignores unknown frames of the other feeds silently: such a frame counts as read only if it gave an event.
      const isRead = IGNORED_ARE_COUNTED.has(feed)
        ? ignored < messageCount(text)
        : this.#decoded > before.decoded;
      if (isRead) accepted.push(frame);
    }
    this.#router.finish();
    this.#recorder.close();
    await this.#storePrices();
    return accepted;
  }

  /** Stores the prices that the store does not have. */
  async #storePrices(): Promise<void> {
    const bySeries = new Map<string, UnderlyingRecord[]>();
    for (const record of this.#prices) {
      const name = seriesOf(record);
      const records = bySeries.get(name) ?? [];
      records.push(record);
      bySeries.set(name, records);
    }
    const isKnown = new Map<string, ReadonlySet<number>>();
    for (const [name, records] of bySeries) {
      const { ticker, source } = records[0] as UnderlyingRecord;
      const times = records.map(({ eventTimeMs }) => eventTimeMs);
      const span = { ticker, source, fromMs: Math.min(...times), toMs: Math.max(...times) };
      isKnown.set(name, new Set(await this.#options.loadPriceTimes(span)));
    }
    for (const record of this.#prices) {
      if (!isKnown.get(seriesOf(record))?.has(record.eventTimeMs)) this.#options.sink.underlying(record);
    }
  }

  /** Resumes the stored markets that a frame names. @returns Whether every named market has a record. */
  async #resumeMarkets(text: string): Promise<boolean> {
    let areListed = true;
    for (const marketId of new Set([...text.matchAll(MARKET_IDS)].map(([, id = '']) => normalMarketId(id)))) {
      if (this.#recorder.market(marketId) !== null) continue;
      const market = await this.#options.loadMarket(marketId);
      if (market === null) areListed = false;
      else this.#recorder.resume(market);
    }
    return areListed;
  }

  /**
   * Passes late rows on. Only hashes prove a late book: announced best prices prove one among the frames around it, and
   * those are not replayed. Gaps are dropped: the live recording has opened the gaps of that time, and no later frame
   * would end a gap of the replay.
   */
  #lateRows(next: RecordSink): RecordSink {
    return recordSink((kind, record) => {
      if (kind === 'gap') return;
      if (kind === 'underlying') {
        this.#prices.push(record as UnderlyingRecord);
        return;
      }
      if (kind === 'perpDepth') this.#decoded++;
      if (kind === 'book' || kind === 'quote') {
        const state = record as BookRecord | QuoteRecord;
        if (state.trusted && !this.#isVerified(state.marketId)) {
          forward(next, kind, { ...record, trusted: false });
          return;
        }
      }
      forward(next, kind, record);
    });
  }

  #isVerified(marketId: string): boolean {
    const book = this.#recorder.recorded(marketId)?.book;
    return book?.yes.verified === true && book.no.verified;
  }
}

function seriesOf({ ticker, source }: UnderlyingRecord): string {
  return `${ticker} ${source}`;
}

/** Number of messages in an understood frame. */
function messageCount(text: string): number {
  const parsed: unknown = text.startsWith('[') ? JSON.parse(text) : null;
  return Array.isArray(parsed) ? parsed.length : 1;
}

/**
 * A clock that shows the receive time of the frame being replayed. Records are numbered by it, so late rows get the
 * place in the order of arrival at which they were received, and an old listing does not replace a newer one.
 */
class ArrivalClock implements Clock {
  timeMs = 0;

  /** Between two milliseconds, so that no live row of the same time has the same number. */
  now(): number {
    return this.timeMs + 0.5;
  }

  monotonic(): number {
    return this.timeMs;
  }

  /** A replay has no timers: its recorder ends actions by receive times. */
  after(): Timer {
    return { cancel: () => {} };
  }
}
