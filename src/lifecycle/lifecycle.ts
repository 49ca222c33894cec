import { FORGET_AFTER_END_MS } from '../recorder/liveRecording.ts';
import {
  mergeListing,
  type NamedWinner,
  withPayout,
  withRules,
  withWinner,
} from '../recorder/marketMerge.ts';
import { neverStored, SUBSCRIBED_AFTER_END_MS } from '../recorder/recordedSpan.ts';
import type { Recorder } from '../recorder/recorder.ts';
import { type Clock, every, type Timer } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Market, Ticker } from '../schema/market.ts';
import type { GammaListing } from '../venues/polymarket/gamma/mapper.ts';
import { type Series, seriesOf } from '../venues/polymarket/lifecycle/series.ts';
import { Discovery, type Listings } from './discovery.ts';
import { ListingFacts } from './listingFacts.ts';
import {
  contradictsLabels,
  type ExchangeRules,
  MarketRulesReader,
  NO_RULES,
  type ReadRules,
} from './marketRulesReader.ts';
import { type NamedPayout, PayoutReader, type Payouts } from './payoutReader.ts';
import { ResolutionPollSchedule } from './resolutionPollSchedule.ts';
import type { StrikeFinder } from './strikeFinder.ts';
import { type WantedWindow, WantedWindows } from './wantedWindows.ts';
import { type ExchangeMarkets, WinnerReader } from './winnerReader.ts';

const TICK_MS = 1000;
/** How often each series is listed to check the computed slugs. */
const LISTING_PERIOD_MS = 60_000;

interface Subscriptions {
  subscribe(group: string, tokenIds: readonly string[]): void;
  unsubscribe(group: string, tokenIds: readonly string[]): void;
}

interface LifecycleOptions {
  /** The followed assets. */
  tickers: readonly Ticker[];
  listings: Listings;
  clob: Subscriptions;
  recorder: Recorder;
  strikes: StrikeFinder;
  /** Null when the exchange's REST interface is turned off. */
  exchange: (ExchangeMarkets & ExchangeRules) | null;
  /** Null when the Data API is turned off. */
  payouts: Payouts | null;
  clock: Clock;
  /** 0 <= x < 1, for the jitter of retries. */
  random: () => number;
  log: Logger;
  metrics: Metrics;
}

/** Follows every series: finds windows before they open, subscribes to them and tracks them until their outcome. */
export class Lifecycle {
  readonly #options: LifecycleOptions;
  readonly #series: readonly Series[];
  readonly #wanted: WantedWindows;
  readonly #discovery: Discovery;
  readonly #facts: ListingFacts;
  readonly #polls: ResolutionPollSchedule;
  readonly #payouts: PayoutReader | null;
  readonly #winners: WinnerReader | null;
  readonly #rules: MarketRulesReader | null;
  readonly #markets = new Map<string, Market>();
  /** Slug by window: the venue may list a window under a slug other than the computed one. */
  readonly #slugs = new Map<string, string>();
  readonly #subscribed = new Set<string>();
  /** Ids of markets whose tokens the exchange labels differently: neither subscribed nor recorded. */
  readonly #refused = new Set<string>();
  #timer: Timer | null = null;
  /** Monotonic. */
  #lastListingAt = Number.NEGATIVE_INFINITY;
  #listingTurn = 0;
  readonly #subscribedGauge;
  readonly #disagreements;
  readonly #labelFaults;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    this.#series = seriesOf(options.tickers);
    this.#wanted = new WantedWindows(this.#series);
    const { listings, exchange, payouts, clock, random, log, metrics } = options;
    const onListing = (listing: GammaListing, madeAt: number) => this.#listed(listing, madeAt);
    this.#discovery = new Discovery({ listings, clock, random, log, metrics, onListing });
    this.#facts = new ListingFacts({ log, metrics });
    this.#polls = new ResolutionPollSchedule({ log, metrics });
    const onWinner = (market: Market, named: NamedWinner) => this.#won(market, named);
    const onPayout = (market: Market, named: NamedPayout) => this.#paid(market, named);
    this.#payouts = payouts && new PayoutReader({ payouts, clock, random, log, metrics, onPayout });
    const isLast = () => this.#payouts?.isAvailable ?? false;
    const onDelay = ({ marketId }: Market, takerDelayMs: number) =>
      this.#ruled(marketId, { ...NO_RULES, takerDelayMs, readTimeMs: clock.now() });
    this.#winners = exchange && new WinnerReader({ exchange, clock, log, isLast, onWinner, onDelay });
    const onRules = (marketId: string, rules: ReadRules) => this.#ruled(marketId, rules);
    this.#rules = exchange && new MarketRulesReader({ exchange, clock, log, onRules });
    this.#subscribedGauge = metrics.gauge('underround_markets_subscribed', 'Markets subscribed at the venue');
    this.#disagreements = metrics.counter(
      'underround_resolution_disagreements_total',
      'Markets whose stream and listing named different winners',
    );
    this.#labelFaults = metrics.counter(
      'underround_token_labels_contradicted_total',
      'Markets refused because the exchange labels their tokens differently from the listing',
    );
  }

  /** @param known Possibly open or unresolved markets of an earlier run, already resumed by the recorder. */
  start(known: readonly Market[]): void {
    for (const market of known) this.#note(market);
    this.#tick();
    this.#timer = every(this.#options.clock, TICK_MS, () => this.#tick());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#discovery.stop();
    this.#payouts?.stop();
    this.#winners?.stop();
    this.#rules?.stop();
  }

  /** Called when the venue's stream named a winner and the recorder stored it; the listing confirms it later. */
  resolved(market: Market): void {
    const before = this.#markets.get(market.slug) ?? null;
    this.#note(market);
    this.#options.strikes.note(before, market);
    this.#logResolved(market);
  }

  /** Handles a winner named by the exchange, unless the stream or the listing named one in the meantime. */
  #won(asked: Market, named: NamedWinner): void {
    // The record may have changed since the request.
    const market = this.#current(asked);
    if (market.status === 'resolved') return;
    const resolved = withWinner(market, named);
    if (resolved === null) {
      const { slug } = market;
      this.#options.log.error({ slug, tokenId: named.tokenId }, 'market.winner_unknown');
      return;
    }
    this.#store(resolved);
    this.#logResolved(resolved);
  }

  /** Handles a payout from the Data API, unless another source named the winner in the meantime. */
  #paid(asked: Market, { payoutYes, timeMs }: NamedPayout): void {
    const market = this.#current(asked);
    if (market.status === 'resolved') return;
    const resolved = withPayout(market, { payoutYes, timeMs, by: 'exchange' });
    this.#store(resolved);
    this.#logResolved(resolved);
  }

  #ruled(marketId: string, rules: ReadRules): void {
    const market = this.#options.recorder.market(marketId);
    if (market === null) return;
    if (contradictsLabels(market, rules)) this.#refuse(market, rules);
    else this.#store(withRules(market, rules));
  }

  /**
   * Stops following a market: with the tokens exchanged, every book and outcome would be that of the other side. A gap
   * from before its first row to the end of its window covers the rows written so far.
   */
  #refuse(market: Market, { tokens, readTimeMs: knownTimeMs }: ReadRules): void {
    const { recorder, clob, log } = this.#options;
    const { slug, marketId, yesTokenId, noTokenId } = market;
    this.#labelFaults.inc();
    log.error({ slug, marketId, yesTokenId, noTokenId, exchange: tokens }, 'market.labels_contradicted');
    this.#refused.add(marketId);
    const recorded = recorder.recorded(marketId);
    const start = neverStored(market, market.recordedSinceMs ?? knownTimeMs);
    // Another gap that is open now may have begun later.
    recorder.gaps.abandon(marketId, knownTimeMs);
    if (recorded !== null) recorder.lose(recorded, { cause: 'book_mismatch', start, knownTimeMs });
    recorder.track({ ...market, status: 'closed' });
    recorder.untrack(marketId);
    recorder.gaps.abandon(marketId, Math.max(knownTimeMs, market.endTimeMs));
    this.#polls.forget(slug);
    if (this.#subscribed.delete(slug)) clob.unsubscribe(groupOf(market), [yesTokenId, noTokenId]);
  }

  #logResolved({ slug, outcome, payoutYes, resolvedBy }: Market): void {
    this.#options.log.info({ slug, outcome, payoutYes, by: resolvedBy }, 'market.resolved');
  }

  #tick(): void {
    const nowMs = this.#options.clock.now();
    const wanted = this.#wanted.at(nowMs);
    const missing = wanted.filter((one) => this.#marketOf(one) === undefined).map(({ slug }) => slug);
    this.#discovery.requestWindows({ missing, due: () => this.#due(nowMs) });
    this.#payouts?.tick();
    this.#crossCheck(nowMs);
    this.#subscribe(wanted, nowMs);
    for (const market of this.#markets.values()) this.#age(market, nowMs);
    this.#subscribedGauge.set(this.#subscribed.size);
  }

  #due(nowMs: number): string[] {
    const due = this.#polls.due(nowMs);
    for (const slug of due) {
      const noted = this.#markets.get(slug);
      if (noted === undefined) continue;
      const market = this.#current(noted);
      this.#winners?.ask(market, nowMs);
      // Payouts have the order of the listing, which a market of an earlier run has to be read for first.
      const upIndex = this.#facts.upIndexOf(slug);
      const isAwaited = market.status !== 'resolved' && nowMs >= market.endTimeMs;
      if (upIndex !== null && isAwaited) this.#payouts?.add(market, upIndex);
    }
    return due;
  }

  /** Lists one series at a time to spread the load over the period. */
  #crossCheck(nowMs: number): void {
    const nowAt = this.#options.clock.monotonic();
    if (nowAt - this.#lastListingAt < LISTING_PERIOD_MS / this.#series.length) return;
    this.#lastListingAt = nowAt;
    const one = this.#series[this.#listingTurn++ % this.#series.length];
    if (one !== undefined) this.#discovery.list({ ...one, nowMs });
  }

  #subscribe(wanted: readonly WantedWindow[], nowMs: number): void {
    for (const one of wanted) {
      const market = this.#marketOf(one);
      if (market === undefined || market.status === 'resolved' || this.#subscribed.has(market.slug)) continue;
      if (this.#refused.has(market.marketId)) continue;
      if (nowMs >= market.endTimeMs + SUBSCRIBED_AFTER_END_MS) continue;
      this.#subscribed.add(market.slug);
      this.#options.clob.subscribe(groupOf(market), [market.yesTokenId, market.noTokenId]);
    }
  }

  /** Applies the passage of time to a market: its strike and close, its end, unsubscribing and forgetting. */
  #age(noted: Market, nowMs: number): void {
    if (this.#refused.has(noted.marketId)) {
      if (nowMs - noted.endTimeMs >= FORGET_AFTER_END_MS) this.#forget(noted);
      return;
    }
    const current = this.#current(noted);
    let market = this.#options.strikes.review(current, nowMs);
    if (market.status === 'open' && nowMs >= market.endTimeMs) market = { ...market, status: 'closed' };
    if (market !== noted) this.#store(market);
    const sinceEndMs = nowMs - market.endTimeMs;
    const over = market.status === 'resolved' ? sinceEndMs >= 0 : sinceEndMs >= SUBSCRIBED_AFTER_END_MS;
    if (over && this.#subscribed.delete(market.slug)) {
      this.#options.clob.unsubscribe(groupOf(market), [market.yesTokenId, market.noTokenId]);
    }
    // Includes a market that ended before this run could subscribe to it: nothing else would ever end its gap.
    if (over) this.#options.recorder.gaps.abandon(market.marketId, nowMs);
    if (sinceEndMs >= FORGET_AFTER_END_MS && !this.#polls.has(market.slug)) this.#forget(market);
  }

  #forget(market: Market): void {
    this.#options.strikes.forgotten(market);
    this.#polls.forget(market.slug);
    this.#markets.delete(market.slug);
    this.#facts.forget(market.slug);
    this.#slugs.delete(windowKey(market));
    this.#refused.delete(market.marketId);
    this.#options.recorder.untrack(market.marketId);
  }

  #listed(listing: GammaListing, madeAt: number): void {
    const { market: listed } = listing;
    if (this.#refused.has(listed.marketId)) return;
    const noted = this.#markets.get(listed.slug);
    const known = noted === undefined ? null : this.#current(noted);
    if (known !== null && known.marketId !== listed.marketId) {
      this.#options.log.error(
        { slug: listed.slug, known: known.marketId, listed: listed.marketId },
        'market.slug_claimed_twice',
      );
      return;
    }
    if (!this.#facts.accept(listing, madeAt)) return;
    if (known?.status === 'resolved' && listed.status === 'resolved' && known.outcome !== listed.outcome) {
      this.#disagreements.inc();
      this.#options.log.error(
        { slug: listed.slug, stream: known.outcome, listing: listed.outcome },
        'market.winners_disagree',
      );
    }
    const market = mergeListing(known, listed);
    if (known === null)
      this.#options.log.info({ slug: market.slug, marketId: market.marketId }, 'market.discovered');
    if (known?.status !== 'resolved' && market.status === 'resolved') this.#logResolved(market);
    this.#facts.noteContradiction(known, market);
    this.#store(market);
    if (market.status === 'open') this.#rules?.ask(market);
    const nowMs = this.#options.clock.now();
    this.#subscribe(this.#wanted.at(nowMs), nowMs);
  }

  #note(market: Market): void {
    this.#markets.set(market.slug, market);
    this.#slugs.set(windowKey(market), market.slug);
    this.#polls.add(market);
  }

  /** The recorder's version, which is first to get tick sizes and winners from the stream. */
  #current(market: Market): Market {
    return this.#options.recorder.market(market.marketId) ?? market;
  }

  #marketOf({ ticker, eventType, window }: WantedWindow): Market | undefined {
    const slug = this.#slugs.get(windowKey({ ticker, eventType, startTimeMs: window.startTimeMs }));
    return slug === undefined ? undefined : this.#markets.get(slug);
  }

  #store(market: Market): void {
    const before = this.#markets.get(market.slug) ?? null;
    this.#note(market);
    this.#options.recorder.track(market);
    this.#options.strikes.note(before, market);
  }
}

/** The subscription group: one socket per series, so that a busy series does not slow the others. */
function groupOf(market: Market): string {
  return `${market.ticker}-${market.eventType}`;
}

function windowKey({
  ticker,
  eventType,
  startTimeMs,
}: Pick<Market, 'ticker' | 'eventType' | 'startTimeMs'>): string {
  return `${ticker}/${eventType}/${startTimeMs}`;
}
