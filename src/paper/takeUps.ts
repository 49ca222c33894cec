import type { Universe } from '../schema/backtest.ts';
import type { Market } from '../schema/market.ts';
import type { PaperSession } from './livePaper.ts';
import { firstTerms, type TermsVersion } from './marketTerms.ts';
import type { PaperMarket } from './paperMarket.ts';
import { persist } from './persist.ts';
import type { KnownSession } from './positions.ts';
import type { RecordBuffer } from './recordBuffer.ts';
import { tradable } from './recording.ts';
import type { PaperRunnerParts, Tracked } from './runnerParts.ts';
import type { Sessions } from './sessions.ts';
import type { StrategyIndex } from './strategyIndex.ts';
import { type Beginning, takeUp } from './takeUp.ts';
import { TapePlayer } from './tapePlayer.ts';

/** Windows that ended so shortly before a start may have orders the last run did not see through. */
const ENDED_BACK_MS = 3_600_000;
/** Markets of a series that are given up; a series has no more windows in a day. */
const GIVEN_UP_MAX = 1_000;

/** What take-ups share with the runner. */
export interface TakenUpMarkets {
  readonly tracked: Map<string, Tracked>;
  readonly strategies: StrategyIndex;
  readonly sessions: Sessions;
  /** Of the newest record the bus has told. */
  readonly lastSeq: () => number;
  /** Brings a market that is up to date to its record's terms, and to its end where it has come. */
  readonly update: (tracked: Tracked, seq: number) => void;
}

/** Markets that have a past, on their way to the present. */
export class TakeUps {
  readonly #parts: PaperRunnerParts;
  readonly #markets: TakenUpMarkets;
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  readonly #givenUp = new Set<string>();
  readonly #tooLarge;

  constructor(parts: PaperRunnerParts, markets: TakenUpMarkets) {
    this.#parts = parts;
    this.#markets = markets;
    this.#tooLarge = parts.metrics.counter(
      'underround_paper_markets_given_up_total',
      'Markets whose recording did not fit in memory and which are not traded on paper any more',
    );
  }

  get persistence() {
    const { clock, log } = this.#parts;
    return { clock, log, signal: this.#closing.signal };
  }

  /** Not traded on paper until the next start. */
  isGivenUp(marketId: string): boolean {
    return this.#givenUp.has(marketId);
  }

  market(record: Market): void {
    this.work(this.#takeUp(record));
  }

  byId(marketId: string): void {
    this.work(this.#byId(marketId));
  }

  /** The markets of a series that ended a short time ago. */
  ended(series: string): void {
    this.work(this.#ended(series));
  }

  /** Has it waited for; what fails is logged. */
  work(work: Promise<void>): void {
    const done = work
      .catch((error: unknown) => this.#parts.log.error({ err: error }, 'paper.work_failed'))
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  /** Resolves when no market is on its way. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.settled();
  }

  async #byId(marketId: string): Promise<void> {
    const ask = () => this.#parts.recording.market(marketId);
    const market = await persist(`market ${marketId}`, ask, this.persistence);
    if (market !== null) await this.#takeUp(market);
  }

  async #ended(series: string): Promise<void> {
    const { recording, clock } = this.#parts;
    const [ticker, event_type] = series.split(' ') as [Universe['ticker'], Universe['event_type']];
    const endMs = clock.now();
    const range = { startMs: endMs - ENDED_BACK_MS, endMs };
    const ask = () => recording.ended({ ticker, event_type }, range);
    for (const market of (await persist('ended markets', ask, this.persistence)) ?? []) {
      await this.#takeUp(market);
    }
  }

  async #takeUp(record: Market): Promise<void> {
    const { marketId } = record;
    const { tracked: all, sessions } = this.#markets;
    if (tradable(record) === null || all.has(marketId) || this.isGivenUp(marketId)) return;
    const tracked: Tracked = { record, paper: sessions.market(record), buffer: null };
    all.set(marketId, tracked);
    const past = new Past(tracked, this.#parts, this.#markets);
    const taken = await takeUp(record, past, { ...this.#parts, signal: this.#closing.signal });
    if (taken === null) return;
    if (taken === 'too_large') this.#giveUp(marketId);
    else past.passed(taken);
  }

  /** What is held in it stays as it stands: how it would have gone on is not known. */
  #giveUp(marketId: string): void {
    this.#markets.tracked.delete(marketId);
    if (this.#givenUp.size >= GIVEN_UP_MAX) this.#givenUp.clear();
    this.#givenUp.add(marketId);
    this.#tooLarge.inc();
    this.#parts.log.error({ marketId }, 'paper.market_given_up');
  }
}

/** One market's past: what is played is told to nobody, only what it comes to is. */
class Past {
  readonly #tracked: Tracked;
  readonly #parts: PaperRunnerParts;
  readonly #markets: TakenUpMarkets;
  #known: KnownSession[] = [];
  #terms: TermsVersion[] = [];
  #first: TermsVersion | null = null;
  #player: TapePlayer | null = null;
  #isOver = false;

  constructor(tracked: Tracked, parts: PaperRunnerParts, markets: TakenUpMarkets) {
    this.#tracked = tracked;
    this.#parts = parts;
    this.#markets = markets;
  }

  readonly buffering = (buffer: RecordBuffer): void => {
    this.#tracked.buffer = buffer;
  };

  readonly begin = async (): Promise<Beginning> => {
    const { record } = this.#tracked;
    const { marketId } = record;
    const { sessions, strategies } = this.#markets;
    this.#known = await this.#parts.sessionsOf(marketId);
    this.#terms = await this.#parts.termsOf(marketId);
    const [first = firstTerms(marketId, record), ...later] = this.#terms;
    this.#first = first;
    const paper = sessions.market(record, first.terms);
    const byStrategy = new Map(this.#known.map((session) => [session.strategyId, session]));
    const onIt = strategies.ofMarket(record).map((strategy) => {
      const known = byStrategy.get(strategy.strategyId);
      return sessions.session(paper, strategy, { changed: this.#changed, ...(known ? { known } : {}) });
    });
    paper.addAll(onIt);
    this.#player = new TapePlayer(paper, later);
    return { paper, player: this.#player };
  };

  /** The market is up to date: it takes its place, and what its past came to is told. */
  passed(paper: PaperMarket): void {
    const tracked = this.#tracked;
    const { strategies, sessions, lastSeq, update } = this.#markets;
    // A strategy may have gone while the past was played.
    paper.keep(({ strategy }) => strategies.get(strategy.strategyId) !== undefined);
    tracked.paper = paper;
    tracked.buffer = null;
    this.#isOver = true;
    const wasKnown = new Set(this.#known.map(({ strategyId }) => strategyId));
    for (const session of paper.sessions) {
      if (wasKnown.has(session.strategy.strategyId) || session.trades.length > 0) this.#changed(session);
    }
    const traded = new Set(paper.sessions.map(({ strategy }) => strategy.strategyId));
    const late = strategies.ofMarket(tracked.record).filter(({ strategyId }) => !traded.has(strategyId));
    paper.addAll(late.map((strategy) => sessions.session(paper, strategy)));
    if (this.#terms.length === 0 && this.#first !== null) this.#parts.termsChanged(this.#first);
    update(tracked, Math.max(lastSeq(), this.#player?.lastSeq ?? 0));
  }

  readonly #changed = (session: PaperSession): void => {
    if (this.#isOver) this.#parts.changed(session);
  };
}
