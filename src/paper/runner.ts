import type { Subscriber } from '../bus/bus.ts';
import { every, type Timer } from '../clock.ts';
import type { Universe } from '../schema/backtest.ts';
import type { Gap } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import type { UnderlyingRecord } from '../schema/records.ts';
import { resolutionOf, TAPE_AFTER_MS } from '../store/tapes.ts';
import { type LiveStrategy, PaperSession, type SessionChanged } from './livePaper.ts';
import { PaperMarket } from './paperMarket.ts';
import { persist } from './persist.ts';
import type { KnownSession } from './positions.ts';
import { PriceHistory } from './priceHistory.ts';
import { primeHistory } from './primeHistory.ts';
import { applyGap, type RecordBuffer } from './recordBuffer.ts';
import { tradable } from './recording.ts';
import type { PaperRunnerParts, Tracked } from './runnerParts.ts';
import { StrategyIndex, seriesOf } from './strategyIndex.ts';
import { takeUp } from './takeUp.ts';

/** Markets that are over are let go of so often, and the store is asked about those that hold something. */
const SWEEP_MS = 30_000;
/** Windows that ended so shortly before a start may have orders the last run did not see through. */
const ENDED_BACK_MS = 3_600_000;

/** Runs the strategies on what is recorded, as it is recorded. Only series that have strategies are followed. */
export class PaperRunner {
  readonly #parts: PaperRunnerParts;
  readonly #failures;
  readonly #history = new PriceHistory();
  readonly #strategies = new StrategyIndex();
  readonly #followed = new Set<string>();
  readonly #tracked = new Map<string, Tracked>();
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  #subscriptions: (() => void)[] = [];
  #sweep: Timer | null = null;

  constructor(parts: PaperRunnerParts) {
    this.#parts = parts;
    this.#failures = parts.metrics.counter(
      'underround_paper_session_failures_total',
      'Sessions of a strategy on a market that failed and were ended',
    );
  }

  /** @param held Markets in which something is held. */
  start(bus: Subscriber, { held }: { held: readonly string[] }): void {
    this.#subscriptions = [
      bus.subscribe('book', (record) => this.#target(record.marketId)?.book(record)),
      bus.subscribe('quote', (record) => this.#target(record.marketId)?.quote(record)),
      bus.subscribe('underlying', (record) => this.#price(record)),
      bus.subscribe('gap', (gap) => this.#gap(gap)),
      bus.subscribe('market', (market) => this.#market(market)),
    ];
    this.#sweep = every(this.#parts.clock, SWEEP_MS, () => this.#look());
    const feeds = { series: this.#strategies.series(), recording: this.#parts.recording };
    this.#work(primeHistory(this.#history, feeds, this.#persistence));
    for (const marketId of held) this.#work(this.#takeUpById(marketId));
    for (const series of this.#strategies.series()) this.#follow(series, { ended: true });
  }

  /** Before `start`, or while running. */
  add(strategy: LiveStrategy): void {
    this.#strategies.add(strategy);
    if (this.#subscriptions.length === 0) return;
    this.#follow(strategy.series, { ended: false });
    this.#attach(strategy);
  }

  remove(strategyId: string): void {
    this.#strategies.delete(strategyId);
    for (const { paper } of this.#tracked.values()) paper.removeStrategy(strategyId);
  }

  /** What is held is dealt with to its end; nothing new is opened from then on. */
  deactivate(strategyId: string, untilMs: number): void {
    const strategy = this.#strategies.get(strategyId);
    if (strategy !== undefined) strategy.entries.untilMs = untilMs;
  }

  /** Markets it has dealt in before are not entered anew. */
  activate(strategyId: string, fromMs: number): void {
    const strategy = this.#strategies.get(strategyId);
    if (strategy === undefined) return;
    strategy.activeFromMs = fromMs;
    strategy.entries = { untilMs: Number.POSITIVE_INFINITY };
    const isIdle = (session: PaperSession) =>
      session.strategy.strategyId !== strategyId || session.trades.length > 0;
    for (const { paper } of this.#tracked.values()) paper.keep(isIdle);
    this.#attach(strategy);
  }

  /** Resolves when no market is being taken up. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async close(): Promise<void> {
    for (const unsubscribe of this.#subscriptions) unsubscribe();
    this.#sweep?.cancel();
    this.#closing.abort();
    await this.settled();
  }

  #target(marketId: string): PaperMarket | RecordBuffer | undefined {
    const tracked = this.#tracked.get(marketId);
    return tracked?.buffer ?? tracked?.paper;
  }

  #price(record: UnderlyingRecord): void {
    const { seq, ticker, source, price } = record;
    const point = { seq, price, receivedMs: record.receivedTimeMs, eventMs: record.eventTimeMs };
    this.#history.push({ ticker, source }, point);
    for (const { paper, buffer } of this.#tracked.values()) {
      if (paper.market.ticker === ticker && paper.source === source) (buffer ?? paper).price(point);
    }
  }

  #gap({ marketId, startTimeMs, endTimeMs }: Gap): void {
    const tracked = this.#tracked.get(marketId);
    if (tracked === undefined) return;
    const gap = { startMs: startTimeMs, knownMs: this.#parts.clock.now(), endMs: endTimeMs };
    if (tracked.buffer !== null) tracked.buffer.gap(gap);
    else applyGap(tracked.paper, gap);
  }

  #market(record: Market): void {
    const tracked = this.#tracked.get(record.marketId);
    const market = tradable(record);
    if (market === null) return;
    if (tracked === undefined) {
      // What is new now has no past to be read.
      const isOver = record.status === 'resolved' || record.endTimeMs <= this.#parts.clock.now();
      if (isOver || !this.#followed.has(seriesOf(record))) return;
      const paper = this.#newMarket(record);
      this.#tracked.set(record.marketId, { record, paper, buffer: null });
      for (const point of this.#history.points({ ticker: market.ticker, source: paper.source })) {
        paper.price(point);
      }
      paper.addAll(this.#strategies.ofMarket(record).map((strategy) => this.#session(paper, strategy)));
      return;
    }
    tracked.record = record;
    if (tracked.buffer !== null) return;
    tracked.paper.update(market);
    this.#settle(tracked);
  }

  #settle({ record, paper }: Tracked): void {
    const resolution = resolutionOf(record);
    if (resolution === null) return;
    paper.settle(resolution, record.outcome);
    this.#tracked.delete(record.marketId);
  }

  #newMarket(record: Market): PaperMarket {
    const market = tradable(record);
    if (market === null) throw new TypeError('a market of no series is not traded');
    return new PaperMarket(market, (session, error) => {
      this.#failures.inc();
      const { marketId } = session;
      const line = { err: error, marketId, strategyId: session.strategy.strategyId };
      this.#parts.log.error(line, 'paper.session_failed');
      this.#tracked.get(marketId)?.paper.keep((other) => other !== session);
    });
  }

  #session(
    paper: PaperMarket,
    strategy: LiveStrategy,
    { known, changed = this.#parts.changed }: { known?: KnownSession; changed?: SessionChanged } = {},
  ): PaperSession {
    const { activeFromMs, entries } = strategy;
    const parts = { market: paper.market, rows: paper.live.rows, ladders: paper.live.ladders };
    // Dealt in before it was last made active: what it opened then is all it opens here.
    const isEarlier = known !== undefined && known.fromMs < activeFromMs;
    const own = isEarlier ? { untilMs: known.lastDecidedMs + 1 } : entries;
    const fromMs = known?.fromMs ?? activeFromMs;
    return new PaperSession(strategy, parts, { fromMs, changed, entries: own });
  }

  #attach(strategy: LiveStrategy): void {
    for (const { paper, buffer } of this.#tracked.values()) {
      const { ticker, eventType } = paper.market;
      if (buffer !== null || strategy.series !== seriesOf({ ticker, eventType })) continue;
      const has = paper.sessions.some((session) => session.strategy.strategyId === strategy.strategyId);
      if (!has) paper.addAll([this.#session(paper, strategy)]);
    }
  }

  #follow(series: string, { ended }: { ended: boolean }): void {
    if (this.#followed.has(series)) return;
    this.#followed.add(series);
    for (const market of this.#parts.markets()) {
      if (seriesOf(market) === series && market.status !== 'resolved') this.#work(this.#takeUp(market));
    }
    if (ended) this.#work(this.#takeUpEnded(series));
  }

  async #takeUpEnded(series: string): Promise<void> {
    const { recording, clock } = this.#parts;
    const [ticker, event_type] = series.split(' ') as [Universe['ticker'], Universe['event_type']];
    const endMs = clock.now();
    const range = { startMs: endMs - ENDED_BACK_MS, endMs };
    const ask = () => recording.ended({ ticker, event_type }, range);
    for (const market of (await persist('ended markets', ask, this.#persistence)) ?? []) {
      await this.#takeUp(market);
    }
  }

  async #takeUpById(marketId: string): Promise<void> {
    const ask = () => this.#parts.recording.market(marketId);
    const market = await persist(`market ${marketId}`, ask, this.#persistence);
    if (market !== null) await this.#takeUp(market);
  }

  async #takeUp(record: Market): Promise<void> {
    const { marketId } = record;
    if (tradable(record) === null || this.#tracked.has(marketId)) return;
    const tracked: Tracked = { record, paper: this.#newMarket(record), buffer: null };
    this.#tracked.set(marketId, tracked);
    let known: KnownSession[] = [];
    // What is played is the past: only what it comes to is told.
    let isPast = true;
    const changed = (session: PaperSession) => {
      if (!isPast) this.#parts.changed(session);
    };
    const buffering = (buffer: RecordBuffer) => {
      tracked.buffer = buffer;
    };
    const begin = async () => {
      known = await this.#parts.sessionsOf(marketId);
      const paper = this.#newMarket(tracked.record);
      const byStrategy = new Map(known.map((session) => [session.strategyId, session]));
      const sessions = this.#strategies.ofMarket(record).map((strategy) => {
        const before = byStrategy.get(strategy.strategyId);
        return this.#session(paper, strategy, { changed, ...(before ? { known: before } : {}) });
      });
      paper.addAll(sessions);
      return paper;
    };
    const taken = await takeUp(
      record,
      { begin, buffering },
      { ...this.#parts, signal: this.#closing.signal },
    );
    if (taken === null) return;
    // A strategy may have gone while the past was played.
    taken.keep(({ strategy }) => this.#strategies.get(strategy.strategyId) !== undefined);
    tracked.paper = taken;
    tracked.buffer = null;
    isPast = false;
    const wasKnown = new Set(known.map(({ strategyId }) => strategyId));
    for (const session of taken.sessions) {
      if (wasKnown.has(session.strategy.strategyId) || session.trades.length > 0) changed(session);
    }
    const traded = new Set(taken.sessions.map(({ strategy }) => strategy.strategyId));
    const late = this.#strategies.ofMarket(record).filter(({ strategyId }) => !traded.has(strategyId));
    taken.addAll(late.map((strategy) => this.#session(taken, strategy)));
    const market = tradable(tracked.record);
    if (market !== null) taken.update(market);
    this.#settle(tracked);
  }

  get #persistence() {
    const { clock, log } = this.#parts;
    return { clock, log, signal: this.#closing.signal };
  }

  #look(): void {
    const nowMs = this.#parts.clock.now();
    for (const [marketId, { paper, buffer }] of this.#tracked) {
      if (buffer !== null || nowMs < paper.market.endTimeMs + TAPE_AFTER_MS) continue;
      paper.keep((session) => session.holds);
      if (paper.sessions.length === 0) this.#tracked.delete(marketId);
      else this.#work(this.#askFor(marketId));
    }
  }

  async #askFor(marketId: string): Promise<void> {
    const market = await this.#parts.recording.market(marketId);
    if (market !== null && market.status === 'resolved') this.#market(market);
  }

  #work(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'paper.work_failed'))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }
}
