import { gapKey } from '../../core/session/gapReplay.ts';
import { TAPE_AFTER_MS } from '../../core/session/tape.ts';
import { resolutionOf } from '../../core/session/tapeMarket.ts';
import type { Gap } from '../../schema/gap.ts';
import type { Market, Ticker } from '../../schema/market.ts';
import type { UnderlyingRecord } from '../../schema/records.ts';
import { firstTerms, sameTerms, termsOf } from './marketTerms.ts';
import type { PaperMarket } from './paperMarket.ts';
import type { LiveStrategy, PaperSession } from './paperSession.ts';
import { PastReplay } from './pastReplay.ts';
import { feedKey, PriceHistory } from './priceHistory.ts';
import { applyGap, type RecordBuffer } from './recordBuffer.ts';
import { ResolutionCache } from './resolutionCache.ts';
import { SessionFactory, tradable } from './sessionFactory.ts';
import { StrategyIndex, seriesOf } from './strategyIndex.ts';
import { EffectCollector, type PastStep, type TraderEffect } from './traderEffects.ts';
import type { TraderEvent } from './traderEvents.ts';

/** The feeds that resolve markets. */
const RESOLVING_SOURCES = ['chainlink', 'binance_spot'] as const;
/** Abandoned markets remembered; a series has fewer windows in a day. */
const GIVEN_UP_MAX = 1_000;

type EventOf<Kind extends TraderEvent['kind']> = Extract<TraderEvent, { readonly kind: Kind }>;

interface TrackedMarket {
  record: Market;
  paper: PaperMarket;
  /** Set while the market's past is being replayed. */
  past: PastReplay | null;
  /** It began before the recorded prices of its feed were read. */
  lacksPrices: boolean;
}

/**
 * Live trading on paper as a pure state machine: events in, effects out. It follows only series that have strategies.
 * It reads no clock, file, database or network, so the same events give the same effects.
 */
export class PaperTrader {
  readonly #effects = new EffectCollector();
  readonly #sessions: SessionFactory;
  readonly #history = new PriceHistory();
  readonly #strategies = new StrategyIndex();
  readonly #followed = new Set<string>();
  readonly #tracked = new Map<string, TrackedMarket>();
  readonly #resolutions = new ResolutionCache();
  /** Markets to be replayed once more when they have caught up. */
  readonly #changedLate = new Set<string>();
  readonly #givenUp = new Set<string>();
  /** Tickers whose recorded prices were asked for, and feeds whose were read. */
  readonly #pricesAsked = new Set<Ticker>();
  readonly #pricesRead = new Set<string>();
  #lastSeq = 0;
  #isStarted = false;

  constructor() {
    this.#sessions = new SessionFactory({
      changed: this.#changed,
      broken: ({ marketId, strategy: { strategyId } }, error) =>
        this.#effects.add({ kind: 'session_failed', marketId, strategyId, error }),
    });
  }

  /** The strategies that it runs. */
  strategies(): Iterable<LiveStrategy> {
    return this.#strategies.all();
  }

  /**
   * @returns The effects to execute, in this order. If it throws, the next call returns the effects collected so far.
   * @throws {RangeError} For an answer about a past that was not asked for.
   */
  process(event: TraderEvent): readonly TraderEffect[] {
    this.#apply(event);
    return this.#effects.drain();
  }

  #apply(event: TraderEvent): void {
    switch (event.kind) {
      case 'book':
        this.#target(event.record)?.book(event.record);
        break;
      case 'quote':
        this.#target(event.record)?.quote(event.record);
        break;
      case 'trade':
        this.#target(event.record)?.trade(event.record);
        break;
      case 'underlying':
        this.#price(event.record);
        break;
      case 'gap':
        this.#gap(event.gap);
        break;
      case 'market':
        this.#market(event);
        break;
      case 'tick':
        this.#dropEnded(event.nowMs);
        break;
      case 'started':
        this.#start(event);
        break;
      case 'strategy_added':
        this.#add(event);
        break;
      case 'strategy_removed':
        this.#remove(event.strategyId);
        break;
      case 'strategy_activated':
        this.#activate(event);
        break;
      case 'strategy_deactivated':
        this.#deactivate(event);
        break;
      case 'prices_read':
        this.#pricesArrived(event);
        break;
      case 'past_market':
        this.#replay(event.market);
        break;
      case 'past_begun':
      case 'stretch_read':
      case 'past_resumed':
        this.#replayOn(event);
        break;
      case 'past_too_large':
        this.#giveUp(event.marketId);
        break;
    }
  }

  #start({ held, markets }: EventOf<'started'>): void {
    this.#isStarted = true;
    const series = this.#strategies.series();
    this.#readPrices(series);
    for (const marketId of held) this.#effects.add({ kind: 'read_market', marketId });
    for (const name of series) {
      this.#follow(name, markets);
      this.#effects.add({ kind: 'read_ended', series: name });
    }
  }

  /** A strategy added before the start is followed from there. */
  #add({ strategy: added, nowMs, markets }: EventOf<'strategy_added'>): void {
    const strategy = { ...added, entries: { ...added.entries } };
    this.#strategies.add(strategy);
    if (!this.#isStarted) return;
    this.#readPrices([strategy.series]);
    this.#joinMarkets(strategy, nowMs);
    // Last: a market that is followed from now on is read with this strategy, and need not be read twice.
    this.#follow(strategy.series, markets);
  }

  #remove(strategyId: string): void {
    this.#strategies.delete(strategyId);
    for (const { paper } of this.#tracked.values()) paper.removeStrategy(strategyId);
  }

  /** Existing positions run to exit or resolution; no new entries. */
  #deactivate({ strategyId, untilMs, nowMs }: EventOf<'strategy_deactivated'>): void {
    const strategy = this.#strategies.get(strategyId);
    if (strategy === undefined) return;
    strategy.entries.untilMs = untilMs;
    if (nowMs >= untilMs) this.#replaySeriesAgain(strategy.series);
  }

  /** Markets in which it already traded are not entered again. Does nothing if it has been active since then. */
  #activate({ strategyId, fromMs, nowMs }: EventOf<'strategy_activated'>): void {
    const strategy = this.#strategies.get(strategyId);
    const isActive = strategy?.entries.untilMs === Number.POSITIVE_INFINITY;
    if (strategy === undefined || (isActive && strategy.activeFromMs === fromMs)) return;
    strategy.activeFromMs = fromMs;
    // Of a stop that was not noticed: the sessions that stay have the earlier entries.
    strategy.entries.untilMs = Math.min(strategy.entries.untilMs, fromMs);
    strategy.entries = { untilMs: Number.POSITIVE_INFINITY };
    const isKept = (session: PaperSession) => session.strategy.strategyId !== strategyId || session.hasFills;
    for (const { paper } of this.#tracked.values()) paper.keep(isKept);
    this.#joinMarkets(strategy, nowMs);
  }

  #target({ marketId, seq }: { marketId: string; seq: number }): PaperMarket | RecordBuffer | undefined {
    this.#lastSeq = seq;
    const tracked = this.#tracked.get(marketId);
    return tracked?.past?.buffer ?? tracked?.paper;
  }

  #price(record: UnderlyingRecord): void {
    const { seq, ticker, source, price } = record;
    this.#lastSeq = seq;
    const point = { seq, price, receivedMs: record.receivedTimeMs, eventMs: record.eventTimeMs };
    this.#history.push({ ticker, source }, point);
    for (const { paper, past } of this.#tracked.values()) {
      if (paper.market.ticker === ticker && paper.source === source) (past?.buffer ?? paper).price(point);
    }
  }

  /** Asks once for the recorded prices of each ticker. */
  #readPrices(series: readonly string[]): void {
    const tickers = new Set(series.map((name) => name.split(' ')[0] as Ticker));
    const asked = [...tickers].filter((ticker) => !this.#pricesAsked.has(ticker));
    for (const ticker of asked) this.#pricesAsked.add(ticker);
    const feeds = asked.flatMap((ticker) => RESOLVING_SOURCES.map((source) => ({ ticker, source })));
    if (feeds.length > 0) this.#effects.add({ kind: 'read_prices', feeds });
  }

  /** Markets that began meanwhile are replayed: their volatility and moves lack these prices. */
  #pricesArrived({ feed, points }: EventOf<'prices_read'>): void {
    this.#history.prepend(feed, points);
    this.#pricesRead.add(feedKey(feed));
    for (const tracked of [...this.#tracked.values()]) {
      const { paper, past, lacksPrices } = tracked;
      const isOfFeed = paper.market.ticker === feed.ticker && paper.source === feed.source;
      if (isOfFeed && past === null && lacksPrices && points.length > 0) this.#replayAgain(tracked);
    }
  }

  #gap({ marketId, startReceivedMs: startMs, knownTimeMs, knownSeq, endReceivedMs: endMs }: Gap): void {
    const tracked = this.#tracked.get(marketId);
    if (tracked === undefined) return;
    const gap = { id: gapKey({ startMs, knownSeq }), startMs, knownMs: knownTimeMs ?? startMs, endMs };
    if (tracked.past !== null) tracked.past.buffer.gap(gap);
    else applyGap(tracked.paper, gap);
  }

  #market({ market: record, nowMs }: EventOf<'market'>): void {
    const tracked = this.#tracked.get(record.marketId);
    if (tracked === undefined) {
      if (record.status === 'resolved') this.#correct(record);
      else this.#begin(record, nowMs);
      return;
    }
    tracked.record = record;
    if (tracked.past === null) this.#update(tracked, this.#lastSeq);
  }

  /** A market first seen now needs no replay. */
  #begin(record: Market, nowMs: number): void {
    const { marketId } = record;
    const isWanted = this.#followed.has(seriesOf(record)) && !this.#givenUp.has(marketId);
    if (record.endTimeMs <= nowMs || !isWanted || tradable(record) === null) return;
    const paper = this.#sessions.market(record);
    const feed = { ticker: paper.market.ticker, source: paper.source };
    this.#tracked.set(marketId, {
      record,
      paper,
      past: null,
      lacksPrices: !this.#pricesRead.has(feedKey(feed)),
    });
    this.#effects.add({ kind: 'terms_changed', version: firstTerms(marketId, record) });
    for (const point of this.#history.points(feed)) paper.price(point);
    paper.addAll(
      this.#strategies.ofMarket(record).map((strategy) => this.#sessions.session(paper, strategy)),
    );
  }

  /** Applies the record's terms to a market, and settles it if it is resolved. */
  #update({ record, paper }: TrackedMarket, afterSeq: number): void {
    const { marketId } = record;
    if (!sameTerms(record, paper.market)) {
      const terms = termsOf(record);
      paper.update(terms);
      this.#effects.add({ kind: 'terms_changed', version: { marketId, afterSeq, terms } });
    }
    const resolution = resolutionOf(record);
    if (resolution === null) return;
    paper.settle(resolution, record.outcome);
    this.#resolutions.note(record);
    this.#tracked.delete(marketId);
  }

  /** The market was settled by an earlier resolution of the venue. */
  #correct(record: Market): void {
    const { marketId, outcome } = record;
    const correction = this.#resolutions.correction(record);
    if (correction === 'none') return;
    this.#resolutions.note(record);
    this.#effects.add({ kind: 'resolution_corrected', marketId, correction, outcome });
    // A different payout changes positions sold in parts, so the market is replayed.
    if (correction === 'payout') this.#replay(record);
    else {
      const resolvedTimeMs = record.resolvedTimeMs ?? record.endTimeMs;
      this.#effects.add({ kind: 'resolution_moved', move: { marketId, outcome, resolvedTimeMs } });
    }
  }

  /** Where rows that a strategy should have seen were processed before it was known, its markets are replayed. */
  #joinMarkets(strategy: LiveStrategy, nowMs: number): void {
    if (nowMs >= strategy.activeFromMs) {
      this.#replaySeriesAgain(strategy.series);
      return;
    }
    for (const { paper, past } of this.#tracked.values()) {
      const { ticker, eventType } = paper.market;
      if (past !== null || strategy.series !== seriesOf({ ticker, eventType })) continue;
      const has = paper.sessions.some((session) => session.strategy.strategyId === strategy.strategyId);
      if (!has) paper.addAll([this.#sessions.session(paper, strategy)]);
    }
  }

  #replaySeriesAgain(series: string): void {
    for (const [marketId, tracked] of [...this.#tracked]) {
      if (seriesOf(tracked.record) !== series) continue;
      if (tracked.past === null) this.#replayAgain(tracked);
      else this.#changedLate.add(marketId);
    }
  }

  #replayAgain({ record, paper }: TrackedMarket): void {
    this.#tracked.delete(record.marketId);
    this.#replay(record, paper);
  }

  /** @param replaced The market as it was traded so far, where it is replayed again. */
  #replay(record: Market, replaced: PaperMarket | null = null): void {
    const { marketId } = record;
    const isHere = this.#tracked.has(marketId) || this.#givenUp.has(marketId);
    if (isHere || tradable(record) === null) return;
    const own = { sessions: this.#sessions, strategies: this.#strategies, changed: this.#changed, replaced };
    // Tracked at once, so that a later event does not begin it as a market without a past.
    const past = new PastReplay(marketId, own);
    this.#tracked.set(marketId, { record, paper: this.#sessions.market(record), past, lacksPrices: false });
    this.#effects.add({ kind: 'read_past', market: record });
  }

  #replayOn(event: EventOf<'past_begun' | 'stretch_read' | 'past_resumed'>): void {
    const tracked = this.#tracked.get(event.marketId);
    const past = tracked?.past ?? null;
    if (tracked === undefined || past === null) throw new RangeError('no past of this market is replayed');
    let step: PastStep;
    if (event.kind === 'past_begun') step = past.begin(tracked.record, event);
    else if (event.kind === 'stretch_read') step = past.play(event.stretch);
    else step = past.resume();
    this.#effects.add(step);
    if (step.kind === 'past_replayed') this.#goLive(tracked, past);
  }

  /** The result of a replay is published, not its steps. */
  #goLive(tracked: TrackedMarket, past: PastReplay): void {
    const { marketId } = tracked.record;
    const { paper, toWrite, unwrittenTerms, lastSeq } = past.caughtUp;
    tracked.paper = paper;
    tracked.past = null;
    for (const session of toWrite) this.#changed(session);
    if (unwrittenTerms !== null) this.#effects.add({ kind: 'terms_changed', version: unwrittenTerms });
    if (this.#changedLate.delete(marketId)) this.#replayAgain(tracked);
    else this.#update(tracked, Math.max(this.#lastSeq, lastSeq));
  }

  /** Open positions stay unchanged: how they would have continued is unknown. */
  #giveUp(marketId: string): void {
    this.#tracked.delete(marketId);
    if (this.#givenUp.size >= GIVEN_UP_MAX) this.#givenUp.clear();
    this.#givenUp.add(marketId);
    this.#effects.add({ kind: 'market_given_up', marketId });
  }

  #follow(series: string, markets: readonly Market[]): void {
    if (this.#followed.has(series)) return;
    this.#followed.add(series);
    for (const market of markets) {
      if (seriesOf(market) === series && market.status !== 'resolved') this.#replay(market);
    }
  }

  /** Forgets ended markets without fills, and asks for the resolution of the others. */
  #dropEnded(nowMs: number): void {
    for (const [marketId, { paper, past }] of this.#tracked) {
      if (past !== null || nowMs < paper.market.endTimeMs + TAPE_AFTER_MS) continue;
      paper.keep((session) => session.hasFills);
      if (paper.sessions.length === 0) this.#tracked.delete(marketId);
      else this.#effects.add({ kind: 'read_resolution', marketId });
    }
  }

  readonly #changed = (session: PaperSession): void => this.#effects.changed(session);
}
