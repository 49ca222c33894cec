import { LATE_AFTER_MS } from '../../core/lateness.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { UnderlyingSource } from '../../schema/events.ts';
import type { MarketTicker } from '../../schema/market.ts';
import { CLOB_FEED } from '../bookTrust.ts';

/** A channel counts as late until this long after its last late message. */
const ON_TIME_MS = 2_000;
/** A late channel without any further message counts as silent, not late, after this long. */
const LATE_WITHOUT_WORD_MS = 10_000;
/** Other feeds have this long to show the same lag, which would mean that our own clock is wrong. */
const JUDGED_AFTER_MS = 1_000;
/** Compares feeds with a message in this period; lags that differ by at most `SAME_LAG_MS` are equal. */
const COMPARED_MS = 3_000;
const SAME_LAG_MS = 1_000;
/** A feed without a message for longer has no lag: its silence is another metric. */
const MEASURED_MS = 60_000;

/** The feed of each price unless its reader names another one. */
export const PRICE_FEEDS: Readonly<Record<UnderlyingSource, string>> = {
  binance_spot: 'binance',
  coinbase_spot: 'coinbase',
  chainlink: 'polymarket.rtds',
  twap60: 'polymarket.rtds',
};

/** A part of a feed that can be late alone: one connection's markets or one ticker's prices. Times are monotonic. */
class LagChannel {
  /** The feed of the newest message: several feeds may carry the same prices. */
  feed: string;
  /** The lag of the newest message. */
  lagMs = 0;
  lastMessageAt = Number.NEGATIVE_INFINITY;
  lateSince = Number.POSITIVE_INFINITY;
  #lateAt = Number.NEGATIVE_INFINITY;
  #onTimeAt = Number.NEGATIVE_INFINITY;

  constructor(feed: string) {
    this.feed = feed;
  }

  note(lagMs: number, nowAt: number): void {
    if (lagMs <= LATE_AFTER_MS) this.#onTimeAt = nowAt;
    else {
      if (!this.isLate(nowAt)) this.lateSince = nowAt;
      this.#lateAt = nowAt;
    }
    this.lagMs = lagMs;
    this.lastMessageAt = nowAt;
  }

  isLate(nowAt: number): boolean {
    const sinceMs = nowAt - this.#lateAt;
    return sinceMs < ON_TIME_MS || (this.#onTimeAt < this.#lateAt && sinceMs < LATE_WITHOUT_WORD_MS);
  }
}

/** The fields of a market that select its feeds. */
type FedMarket = { readonly ticker: MarketTicker; readonly eventType: string };

/**
 * The lag of the feeds' changes, trades and price points between the venue's time and the receive time. Books sent on
 * subscription and history sent after a reconnect are not counted: they are always old.
 */
export class FeedLagMonitor {
  readonly #clock: Clock;
  readonly #books = new Map<string, LagChannel>();
  readonly #prices = new Map<string, LagChannel>();
  readonly #others = new Map<string, LagChannel>();
  /** The price channels of each ticker. */
  readonly #byTicker = new Map<string, LagChannel[]>();
  readonly #gauge;

  constructor({ clock, metrics }: { clock: Clock; metrics: Metrics }) {
    this.#clock = clock;
    this.#gauge = metrics.gauge(
      'underround_feed_lag_seconds',
      'From the venue’s time of the newest change, trade or price point to its receipt',
      ['feed'],
    );
  }

  /** Records the lag of a change or trade of a market. */
  book(market: FedMarket, lagMs: number): void {
    this.#bookChannel(market).note(lagMs, this.#clock.monotonic());
  }

  /** Records the lag of a price point that no feed has brought before. */
  price(
    { source, ticker }: { source: UnderlyingSource; ticker: string },
    lagMs: number,
    feed = PRICE_FEEDS[source],
  ): void {
    const key = `${source} ${ticker}`;
    let channel = this.#prices.get(key);
    if (channel === undefined) {
      channel = new LagChannel(feed);
      this.#prices.set(key, channel);
      this.#byTicker.set(ticker, [...(this.#byTicker.get(ticker) ?? []), channel]);
    }
    channel.feed = feed;
    channel.note(lagMs, this.#clock.monotonic());
  }

  /** Records the lag of a feed on which no market's trust depends. */
  other(feed: string, lagMs: number): void {
    const channel = this.#others.get(feed) ?? new LagChannel(feed);
    this.#others.set(feed, channel);
    channel.note(lagMs, this.#clock.monotonic());
  }

  /** The late channel on which a market depends: its book's, or one of its ticker's prices; null when none is late. */
  lateFor(market: FedMarket): LagChannel | null {
    const nowAt = this.#clock.monotonic();
    const book = this.#books.get(groupOf(market));
    if (book?.isLate(nowAt)) return book;
    for (const channel of this.#byTicker.get(market.ticker) ?? []) if (channel.isLate(nowAt)) return channel;
    return null;
  }

  /** The cause of a channel's lag; null while other feeds may still show that our clock is wrong. */
  causeOf({ lateSince }: LagChannel): 'late_feed' | 'clock_step' | null {
    const lateForMs = this.#clock.monotonic() - lateSince;
    if (lateForMs < JUDGED_AFTER_MS) return null;
    // A message from before the lag says nothing about it.
    const sameLagMs = this.#sameLagMs(Math.min(lateForMs, COMPARED_MS));
    return sameLagMs === null ? 'late_feed' : 'clock_step';
  }

  /** Publishes each feed's lag as a metric. */
  measure(): void {
    this.#gauge.reset();
    for (const [feed, { lagMs }] of this.#newest(MEASURED_MS)) this.#gauge.set({ feed }, lagMs / 1000);
  }

  /** One line per late feed, with its largest lag; a single line when our own clock is wrong. */
  degraded(): string[] {
    const sameLagMs = this.#sameLagMs(COMPARED_MS);
    if (sameLagMs !== null) return [`clock_step underround ${seconds(sameLagMs)} s`];
    const nowAt = this.#clock.monotonic();
    const late = new Map<string, number>();
    for (const channel of this.#channels()) {
      if (channel.isLate(nowAt)) late.set(channel.feed, Math.max(late.get(channel.feed) ?? 0, channel.lagMs));
    }
    return [...late].sort().map(([feed, lagMs]) => `late_feed ${feed} ${seconds(lagMs)} s`);
  }

  /** The lag that all feeds with a message in the last `withinMs` share; null when they differ or only one has one. */
  #sameLagMs(withinMs: number): number | null {
    const lags = [...this.#newest(withinMs).values()].map(({ lagMs }) => lagMs);
    const [least, most] = [Math.min(...lags), Math.max(...lags)];
    return lags.length >= 2 && least > LATE_AFTER_MS && most - least <= SAME_LAG_MS ? most : null;
  }

  /** Each feed's channel with the newest message, if received within `withinMs`. */
  #newest(withinMs: number): Map<string, LagChannel> {
    const nowAt = this.#clock.monotonic();
    const newest = new Map<string, LagChannel>();
    for (const channel of this.#channels()) {
      if (nowAt - channel.lastMessageAt > withinMs) continue;
      if (channel.lastMessageAt >= (newest.get(channel.feed)?.lastMessageAt ?? Number.NEGATIVE_INFINITY))
        newest.set(channel.feed, channel);
    }
    return newest;
  }

  *#channels(): IterableIterator<LagChannel> {
    yield* this.#books.values();
    yield* this.#prices.values();
    yield* this.#others.values();
  }

  #bookChannel(market: FedMarket): LagChannel {
    const group = groupOf(market);
    const known = this.#books.get(group);
    if (known !== undefined) return known;
    const made = new LagChannel(CLOB_FEED);
    this.#books.set(group, made);
    return made;
  }
}

/** Markets of one series share their connections. */
function groupOf({ ticker, eventType }: FedMarket): string {
  return `${ticker}-${eventType}`;
}

function seconds(lagMs: number): string {
  return (lagMs / 1000).toFixed(1);
}
