import { BEFORE_FIRST_SEQ } from '../../core/session/tape.ts';
import type { Market } from '../../schema/market.ts';
import { firstTerms, type TermsVersion } from './marketTerms.ts';
import type { PaperMarket } from './paperMarket.ts';
import type { PaperSession, SessionChanged } from './paperSession.ts';
import { RecordBuffer } from './recordBuffer.ts';
import type { KnownSession, SessionFactory } from './sessionFactory.ts';
import type { StrategyIndex } from './strategyIndex.ts';
import { TapePlayer } from './tapePlayer.ts';
import type { PastStep } from './traderEffects.ts';
import type { PastEvent, Stretch } from './traderEvents.ts';

interface PastReplayOptions {
  readonly sessions: SessionFactory;
  readonly strategies: StrategyIndex;
  /** Called with changed sessions once the market is live. */
  readonly changed: SessionChanged;
  /** The market as it was traded so far, where it is replayed again. */
  readonly replaced: PaperMarket | null;
}

/** The market that a replay builds, and the stretch that it is playing. */
interface Attempt {
  readonly record: Market;
  readonly paper: PaperMarket;
  readonly player: TapePlayer;
  readonly known: ReadonlyMap<string, KnownSession>;
  /** The terms at the first row, if the table does not have them. */
  readonly unwrittenTerms: TermsVersion | null;
  steps: Generator<void, void> | null;
  toSeq: number | null;
  /** The buffer holds every record from here on; the stretch may hold only some of them. */
  beforeSeq: number;
}

/** A market that has caught up, as if it had been followed from its first row. */
interface CaughtUp {
  readonly paper: PaperMarket;
  /** Sessions whose positions the table lacks, or may have otherwise. */
  readonly toWrite: readonly PaperSession[];
  readonly unwrittenTerms: TermsVersion | null;
  /** Arrival number of the newest replayed row. */
  readonly lastSeq: number;
}

/**
 * Brings a market that has a past up to the live stream: replays its recording stretch by stretch, then the records
 * published while the last stretch was read. It publishes only the result, not the steps.
 */
export class PastReplay {
  /** Records published meanwhile. Before the first stretch is read they are stored, and read in their turn. */
  buffer = new RecordBuffer(0);
  readonly #options: PastReplayOptions;
  /** Strategies that traded in the market before it was replayed again; the table may not have their trades yet. */
  readonly #replaced: ReadonlySet<string>;
  readonly #paused: PastStep;
  readonly #marketId: string;
  #attempt: Attempt | null = null;
  #isOver = false;

  constructor(marketId: string, options: PastReplayOptions) {
    const traded = (options.replaced?.sessions ?? []).filter(({ hasFills }) => hasFills);
    this.#replaced = new Set(traded.map(({ strategy }) => strategy.strategyId));
    this.#options = options;
    this.#marketId = marketId;
    this.#paused = { kind: 'past_paused', marketId };
  }

  /** Begins from the first row, also after an attempt that failed. */
  begin(record: Market, { known, terms }: Extract<PastEvent, { kind: 'past_begun' }>): PastStep {
    const [first = firstTerms(record.marketId, record), ...later] = terms;
    const paper = this.#options.sessions.market(record, first.terms);
    this.#attempt = {
      record,
      paper,
      player: new TapePlayer(paper, later),
      known: new Map(known.map((session) => [session.strategyId, session])),
      unwrittenTerms: terms.length === 0 ? first : null,
      steps: null,
      toSeq: null,
      beforeSeq: Number.POSITIVE_INFINITY,
    };
    return this.#read(BEFORE_FIRST_SEQ);
  }

  /** Plays the stretch that was read. */
  play({ tape, toSeq }: Stretch): PastStep {
    const attempt = this.#current;
    attempt.toSeq = toSeq;
    attempt.beforeSeq = this.buffer.firstSeq ?? Number.POSITIVE_INFINITY;
    this.#join(attempt);
    attempt.steps = attempt.player.play(tape, attempt.beforeSeq);
    return this.resume();
  }

  resume(): PastStep {
    const attempt = this.#current;
    const { steps, player, paper, toSeq, beforeSeq } = attempt;
    if (steps === null) throw new RangeError('no stretch of the past is being played');
    if (!steps.next().done) return this.#paused;
    const isLast = toSeq === null || toSeq >= beforeSeq - 1;
    if (!isLast || this.buffer.overflowed) return this.#read(isLast ? beforeSeq - 1 : toSeq);
    player.finish(beforeSeq);
    this.#join(attempt);
    this.buffer.drain(paper);
    this.#isOver = true;
    return { kind: 'past_replayed', marketId: this.#marketId };
  }

  /** Call once after the step `past_replayed`. */
  get caughtUp(): CaughtUp {
    const { paper, player, known, unwrittenTerms } = this.#current;
    const isWritten = (id: string) => known.has(id) || this.#replaced.has(id);
    const toWrite = paper.sessions.filter(
      ({ strategy, hasFills }) => hasFills || isWritten(strategy.strategyId),
    );
    return { paper, toWrite, unwrittenTerms, lastSeq: player.lastSeq };
  }

  get #current(): Attempt {
    if (this.#attempt === null) throw new RangeError('the replay of the past has not begun');
    return this.#attempt;
  }

  #read(afterSeq: number): PastStep {
    this.buffer = new RecordBuffer();
    return { kind: 'read_stretch', marketId: this.#marketId, afterSeq };
  }

  /**
   * Applies what changed during the replay: strategies that were added, removed or reactivated. A strategy trades from
   * `ACTIVATION_MS` after its change, so it is here before its first row.
   */
  #join({ record, paper, known }: Pick<Attempt, 'record' | 'paper' | 'known'>): void {
    const { strategies, sessions } = this.#options;
    paper.keep((session) => this.#stays(session, known));
    const has = new Set(paper.sessions.map(({ strategy }) => strategy.strategyId));
    const missing = strategies.ofMarket(record).filter(({ strategyId }) => !has.has(strategyId));
    paper.addAll(
      missing.map((strategy) => {
        const own = known.get(strategy.strategyId);
        return sessions.session(paper, strategy, { changed: this.#changed, ...(own && { known: own }) });
      }),
    );
  }

  #stays({ strategy, hasFills, fromMs }: PaperSession, known: Attempt['known']): boolean {
    const { strategyId } = strategy;
    if (this.#options.strategies.get(strategyId) !== strategy) return false;
    return known.has(strategyId) || hasFills || fromMs >= strategy.activeFromMs;
  }

  readonly #changed: SessionChanged = (session) => {
    if (this.#isOver) this.#options.changed(session);
  };
}
