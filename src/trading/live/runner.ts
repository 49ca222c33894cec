import type { Subscriber } from '../../bus/bus.ts';
import { gapKey } from '../../core/session/gapReplay.ts';
import { every, type Timer } from '../../runtime/clock.ts';
import type { Gap } from '../../schema/gap.ts';
import type { Market, Ticker } from '../../schema/market.ts';
import type { UnderlyingRecord } from '../../schema/records.ts';
import { resolutionOf, TAPE_AFTER_MS } from '../../store/queries/tapeReader.ts';
import { CatchUpManager } from '../catchUp/catchUpManager.ts';
import { firstTerms, sameTerms, termsOf } from '../catchUp/marketTerms.ts';
import { type Recording, tradable } from '../catchUp/recording.ts';
import { ResolutionCache } from '../catchUp/resolutionCache.ts';
import { type RetryOptions, retryUntilDone } from '../catchUp/retryUntilDone.ts';
import type { PaperMarket } from './paperMarket.ts';
import type { LiveStrategy, PaperSession } from './paperSession.ts';
import { PriceHistory } from './priceHistory.ts';
import { applyGap, type RecordBuffer } from './recordBuffer.ts';
import type { PaperRunnerOptions, TrackedMarket } from './runnerOptions.ts';
import { SessionFactory } from './sessionFactory.ts';
import { StrategyIndex, seriesOf } from './strategyIndex.ts';

/** How often to drop ended markets and re-query the store for ended markets with fills. */
const SWEEP_MS = 30_000;
/** The feeds that resolve markets. */
const RESOLVING_SOURCES = ['chainlink', 'binance_spot'] as const;

/** Runs the strategies on records as they are recorded. It follows only series that have strategies. */
export class PaperRunner {
  readonly #parts: PaperRunnerOptions;
  readonly #sessions: SessionFactory;
  readonly #catchUps: CatchUpManager;
  readonly #history = new PriceHistory();
  readonly #strategies = new StrategyIndex();
  readonly #followed = new Set<string>();
  readonly #tracked = new Map<string, TrackedMarket>();
  readonly #resolutions = new ResolutionCache();
  /** Markets to be replayed once more when they have caught up. */
  readonly #changedLate = new Set<string>();
  #lastSeq = 0;
  #subscriptions: (() => void)[] = [];
  #sweep: Timer | null = null;

  constructor(parts: PaperRunnerOptions) {
    this.#parts = parts;
    this.#sessions = new SessionFactory(parts);
    this.#catchUps = new CatchUpManager(parts, {
      ...{ tracked: this.#tracked, strategies: this.#strategies, sessions: this.#sessions },
      lastSeq: () => this.#lastSeq,
      update: (tracked, seq) => this.#caughtUp(tracked, seq),
    });
  }

  /** @param held Markets with open positions. */
  start(bus: Subscriber, { held }: { held: readonly string[] }): void {
    this.#subscriptions = [
      bus.subscribe('book', (record) => this.#target(record)?.book(record)),
      bus.subscribe('quote', (record) => this.#target(record)?.quote(record)),
      bus.subscribe('trade', (record) => this.#target(record)?.trade(record)),
      bus.subscribe('underlying', (record) => this.#price(record)),
      bus.subscribe('gap', (gap) => this.#gap(gap)),
      bus.subscribe('market', (market) => this.#market(market)),
    ];
    this.#sweep = every(this.#parts.clock, SWEEP_MS, () => this.#sweepEnded());
    const feeds = { series: this.#strategies.series(), recording: this.#parts.recording };
    this.#catchUps.work(primeHistory(this.#history, feeds, this.#catchUps.persistence));
    for (const marketId of held) this.#catchUps.byId(marketId);
    for (const series of this.#strategies.series()) this.#follow(series, { ended: true });
  }

  /** Call before `start`, or while running. */
  add(strategy: LiveStrategy): void {
    this.#strategies.add(strategy);
    if (this.#subscriptions.length === 0) return;
    this.#follow(strategy.series, { ended: false });
    if (this.#isPast(strategy.activeFromMs)) this.#catchUpAgain(strategy.series);
    else this.#attach(strategy);
  }

  /** The strategies that it runs. */
  strategies(): Iterable<LiveStrategy> {
    return this.#strategies.all();
  }

  remove(strategyId: string): void {
    this.#strategies.delete(strategyId);
    for (const { paper } of this.#tracked.values()) paper.removeStrategy(strategyId);
  }

  /** Existing positions run to exit or resolution; no new entries. */
  deactivate(strategyId: string, untilMs: number): void {
    const strategy = this.#strategies.get(strategyId);
    if (strategy === undefined) return;
    strategy.entries.untilMs = untilMs;
    if (this.#isPast(untilMs)) this.#catchUpAgain(strategy.series);
  }

  /** Markets in which it already traded are not entered again. Does nothing if it has been active since then. */
  activate(strategyId: string, fromMs: number): void {
    const strategy = this.#strategies.get(strategyId);
    const isActive = strategy?.entries.untilMs === Number.POSITIVE_INFINITY;
    if (strategy === undefined || (isActive && strategy.activeFromMs === fromMs)) return;
    strategy.activeFromMs = fromMs;
    strategy.entries = { untilMs: Number.POSITIVE_INFINITY };
    const isIdle = (session: PaperSession) => session.strategy.strategyId !== strategyId || session.hasFills;
    for (const { paper } of this.#tracked.values()) paper.keep(isIdle);
    if (this.#isPast(fromMs)) this.#catchUpAgain(strategy.series);
    else this.#attach(strategy);
  }

  /** Resolves when no market is catching up. */
  async settled(): Promise<void> {
    await this.#catchUps.settled();
  }

  async close(): Promise<void> {
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#sweep?.cancel();
    await this.#catchUps.close();
  }

  #target({ marketId, seq }: { marketId: string; seq: number }): PaperMarket | RecordBuffer | undefined {
    this.#lastSeq = seq;
    const tracked = this.#tracked.get(marketId);
    return tracked?.buffer ?? tracked?.paper;
  }

  #price(record: UnderlyingRecord): void {
    const { seq, ticker, source, price } = record;
    this.#lastSeq = seq;
    const point = { seq, price, receivedMs: record.receivedTimeMs, eventMs: record.eventTimeMs };
    this.#history.push({ ticker, source }, point);
    for (const { paper, buffer } of this.#tracked.values()) {
      if (paper.market.ticker === ticker && paper.source === source) (buffer ?? paper).price(point);
    }
  }

  #gap({ marketId, startReceivedMs: startMs, knownTimeMs, knownSeq, endReceivedMs: endMs }: Gap): void {
    const tracked = this.#tracked.get(marketId);
    if (tracked === undefined) return;
    const gap = { id: gapKey({ startMs, knownSeq }), startMs, knownMs: knownTimeMs ?? startMs, endMs };
    if (tracked.buffer !== null) tracked.buffer.gap(gap);
    else applyGap(tracked.paper, gap);
  }

  #market(record: Market): void {
    const tracked = this.#tracked.get(record.marketId);
    if (tracked === undefined) {
      if (record.status === 'resolved') this.#correct(record);
      else this.#begin(record);
      return;
    }
    tracked.record = record;
    if (tracked.buffer === null) this.#update(tracked, this.#lastSeq);
  }

  /** A market first seen now needs no replay. */
  #begin(record: Market): void {
    const { marketId } = record;
    const isOver = record.endTimeMs <= this.#parts.clock.now();
    const isWanted = this.#followed.has(seriesOf(record)) && !this.#catchUps.isGivenUp(marketId);
    if (isOver || !isWanted || tradable(record) === null) return;
    const paper = this.#sessions.market(record);
    this.#tracked.set(marketId, { record, paper, buffer: null });
    this.#parts.termsChanged(firstTerms(marketId, record));
    const { ticker } = paper.market;
    for (const point of this.#history.points({ ticker, source: paper.source })) paper.price(point);
    paper.addAll(
      this.#strategies.ofMarket(record).map((strategy) => this.#sessions.session(paper, strategy)),
    );
  }

  #update({ record, paper }: TrackedMarket, afterSeq: number): void {
    const { marketId } = record;
    if (!sameTerms(record, paper.market)) {
      const terms = termsOf(record);
      paper.update(terms);
      this.#parts.termsChanged({ marketId, afterSeq, terms });
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
    this.#parts.log.info({ marketId, correction, outcome }, 'paper.resolution_corrected');
    // A different payout changes positions sold in parts, so the market is replayed.
    if (correction === 'payout') this.#catchUps.market(record);
    else
      this.#parts.resolutionMoved({
        marketId,
        outcome,
        resolvedTimeMs: record.resolvedTimeMs ?? record.endTimeMs,
      });
  }

  #attach(strategy: LiveStrategy): void {
    for (const { paper, buffer } of this.#tracked.values()) {
      const { ticker, eventType } = paper.market;
      if (buffer !== null || strategy.series !== seriesOf({ ticker, eventType })) continue;
      const has = paper.sessions.some((session) => session.strategy.strategyId === strategy.strategyId);
      if (!has) paper.addAll([this.#sessions.session(paper, strategy)]);
    }
  }

  #isPast(timeMs: number): boolean {
    return this.#parts.clock.now() >= timeMs;
  }

  /** Replays the markets of a series, because rows were processed before a change for them was known. */
  #catchUpAgain(series: string): void {
    for (const [marketId, tracked] of [...this.#tracked]) {
      if (seriesOf(tracked.record) !== series) continue;
      if (tracked.buffer === null) this.#replayAgain(tracked);
      else this.#changedLate.add(marketId);
    }
  }

  #replayAgain({ record, paper }: TrackedMarket): void {
    this.#tracked.delete(record.marketId);
    this.#catchUps.market(record, paper);
  }

  #caughtUp(tracked: TrackedMarket, afterSeq: number): void {
    const { marketId } = tracked.record;
    if (this.#changedLate.delete(marketId)) this.#replayAgain(tracked);
    else this.#update(tracked, afterSeq);
  }

  #follow(series: string, { ended }: { ended: boolean }): void {
    if (this.#followed.has(series)) return;
    this.#followed.add(series);
    for (const market of this.#parts.markets()) {
      if (seriesOf(market) === series && market.status !== 'resolved') this.#catchUps.market(market);
    }
    if (ended) this.#catchUps.ended(series);
  }

  #sweepEnded(): void {
    const nowMs = this.#parts.clock.now();
    for (const [marketId, { paper, buffer }] of this.#tracked) {
      if (buffer !== null || nowMs < paper.market.endTimeMs + TAPE_AFTER_MS) continue;
      // Sessions with fills still await the resolution.
      paper.keep((session) => session.hasFills);
      if (paper.sessions.length === 0) this.#tracked.delete(marketId);
      else this.#catchUps.work(this.#queryResolution(marketId));
    }
  }

  async #queryResolution(marketId: string): Promise<void> {
    const market = await this.#parts.recording.market(marketId);
    if (market !== null && market.status === 'resolved') this.#market(market);
  }
}

/** Reads the prices recorded before the start, so that upcoming windows have the same history as without a restart. */
async function primeHistory(
  history: PriceHistory,
  { series, recording }: { series: readonly string[]; recording: Pick<Recording, 'prices'> },
  parts: RetryOptions,
): Promise<void> {
  const tickers = new Set(series.map((name) => name.split(' ')[0] as Ticker));
  for (const ticker of tickers) {
    for (const source of RESOLVING_SOURCES) {
      const ask = () => recording.prices({ ticker, source }, parts.clock.now(), parts.signal);
      history.prepend({ ticker, source }, (await retryUntilDone('price history', ask, parts)) ?? []);
    }
  }
}
