import type { PaperMarket } from '../live/paperMarket.ts';
import type { PaperSession } from '../live/paperSession.ts';
import type { RecordBuffer } from '../live/recordBuffer.ts';
import type { CatchUpContext, PaperRunnerOptions, TrackedMarket } from '../live/runnerOptions.ts';
import type { KnownSession } from '../paper/positions.ts';
import { firstTerms, type TermsVersion } from './marketTerms.ts';
import type { ReplayStart } from './replayRecording.ts';
import { TapePlayer } from './tapePlayer.ts';

/** Replays one market's past: it publishes only the result, not the steps. */
export class PastReplay {
  readonly #tracked: TrackedMarket;
  readonly #parts: PaperRunnerOptions;
  readonly #markets: CatchUpContext;
  /** Sessions in this market that the table already has. */
  #known: ReadonlyMap<string, KnownSession> = new Map();
  #terms: TermsVersion[] = [];
  #first: TermsVersion | null = null;
  #player: TapePlayer | null = null;
  #isOver = false;
  /** Strategies that traded in the market before it was replayed again; the table may not have their trades yet. */
  readonly #replaced: ReadonlySet<string>;

  constructor(
    tracked: TrackedMarket,
    parts: PaperRunnerOptions,
    { replaced, ...markets }: CatchUpContext & { readonly replaced: PaperMarket | null },
  ) {
    const traded = (replaced?.sessions ?? []).filter(({ hasFills }) => hasFills);
    this.#replaced = new Set(traded.map(({ strategy }) => strategy.strategyId));
    this.#tracked = tracked;
    this.#parts = parts;
    this.#markets = markets;
  }

  readonly onBuffer = (buffer: RecordBuffer): void => {
    this.#tracked.buffer = buffer;
  };

  readonly start = async (): Promise<ReplayStart> => {
    const { record } = this.#tracked;
    const { marketId } = record;
    const { sessions } = this.#markets;
    const known = await this.#parts.sessionsOf(marketId);
    this.#known = new Map(known.map((session) => [session.strategyId, session]));
    this.#terms = await this.#parts.termsOf(marketId);
    const [first = firstTerms(marketId, record), ...later] = this.#terms;
    this.#first = first;
    const paper = sessions.market(record, first.terms);
    this.#player = new TapePlayer(paper, later);
    return { paper, player: this.#player, join: () => this.#join(paper) };
  };

  /** The market has caught up: it goes live, and the result of its replay is published. */
  goLive(paper: PaperMarket): void {
    const tracked = this.#tracked;
    const { lastSeq, update } = this.#markets;
    tracked.paper = paper;
    tracked.buffer = null;
    this.#isOver = true;
    for (const session of paper.sessions) {
      const { strategyId } = session.strategy;
      const isWritten = this.#known.has(strategyId) || this.#replaced.has(strategyId);
      if (isWritten || session.hasFills) this.#changed(session);
    }
    if (this.#terms.length === 0 && this.#first !== null) this.#parts.termsChanged(this.#first);
    update(tracked, Math.max(lastSeq(), this.#player?.lastSeq ?? 0));
  }

  /**
   * Applies what changed during the replay: strategies that were added, removed or reactivated. A strategy trades from
   * `ACTIVATION_MS` after its change, so it is here before its first row.
   */
  #join(paper: PaperMarket): void {
    const { strategies, sessions } = this.#markets;
    paper.keep((session) => this.#stays(session));
    const has = new Set(paper.sessions.map(({ strategy }) => strategy.strategyId));
    const missing = strategies
      .ofMarket(this.#tracked.record)
      .filter(({ strategyId }) => !has.has(strategyId));
    paper.addAll(
      missing.map((strategy) => {
        const known = this.#known.get(strategy.strategyId);
        return sessions.session(paper, strategy, { changed: this.#changed, ...(known ? { known } : {}) });
      }),
    );
  }

  #stays({ strategy, hasFills, fromMs }: PaperSession): boolean {
    const { strategyId } = strategy;
    if (this.#markets.strategies.get(strategyId) !== strategy) return false;
    return this.#known.has(strategyId) || hasFills || fromMs >= strategy.activeFromMs;
  }

  readonly #changed = (session: PaperSession): void => {
    if (this.#isOver) this.#parts.changed(session);
  };
}
