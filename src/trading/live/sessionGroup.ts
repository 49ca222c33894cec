import type { VenueTrade } from '../../core/desk/limitOrder.ts';
import { LiveMarket, type LiveTerms } from '../../core/session/liveMarket.ts';
import { ROW_GAP_KNOWN } from '../../core/session/rows.ts';
import type { MarketSession } from '../../core/session/session.ts';
import { TAPE_AFTER_MS, TAPE_BEFORE_MS, type TapeMarket } from '../../core/session/tape.ts';
import type { PaperSession } from './paperSession.ts';
import { TriggerIndex } from './triggerIndex.ts';

export type OnBroken = (session: PaperSession, error: unknown) => void;

/** The sessions of one market that see the same rows. */
export class SessionGroup {
  readonly live: LiveMarket;
  readonly #market: TapeMarket;
  readonly #onBroken: OnBroken;
  readonly #triggers: TriggerIndex;
  readonly #sessions = new Set<PaperSession>();
  /** Sessions that the next row may change; without sleeping and finished ones. */
  #awake: PaperSession[] = [];

  constructor(
    market: TapeMarket,
    { onBroken, ...terms }: Omit<LiveTerms, 'fromMs'> & { onBroken: OnBroken },
  ) {
    this.#market = market;
    this.#onBroken = onBroken;
    this.live = new LiveMarket(market, { ...terms, fromMs: market.startTimeMs - TAPE_BEFORE_MS });
    this.#triggers = new TriggerIndex(this.live.rows, market);
  }

  get sessions(): Iterable<PaperSession> {
    return this.#sessions;
  }

  addAll(sessions: readonly PaperSession[]): void {
    for (const session of sessions) {
      this.#sessions.add(session);
      if (!session.session.isDone) this.#awake.push(session);
    }
  }

  keep(wanted: (session: PaperSession) => boolean): void {
    for (const session of this.#sessions) {
      if (wanted(session)) continue;
      this.#sessions.delete(session);
      this.#triggers.leave(session);
    }
    this.#awake = this.#awake.filter((session) => this.#sessions.has(session));
  }

  /** Shows the newest row to the sessions that it may change. */
  step(): void {
    const { rows } = this.live;
    const timeMs = rows.timeMs[0] as number;
    if (!this.#isInTape(timeMs)) return;
    this.#show(this.#awake, timeMs);
    const mayTrade =
      rows.trusted[0] === 1 && timeMs >= this.#market.startTimeMs && timeMs < this.#market.endTimeMs;
    if (mayTrade) this.#showReached(timeMs);
    this.#settleDown(timeMs);
  }

  /** Gives a trade to the sessions whose orders it may fill. */
  trade(trade: VenueTrade): void {
    if (!this.#isInTape(trade.timeMs)) return;
    this.#each(this.#awake, trade.timeMs, (session) => session.trade(trade));
  }

  /** Steps every session: only a gap being detected or closed can reactivate a finished session. */
  stepAll(): void {
    const { rows } = this.live;
    const timeMs = rows.timeMs[0] as number;
    // However late a gap is detected, fills made in it are reversed.
    if (!this.#isInTape(timeMs) && rows.kind[0] !== ROW_GAP_KNOWN) return;
    for (const session of this.#sessions) this.#triggers.awaken(session);
    this.#awake = [...this.#sessions];
    this.#show(this.#awake, timeMs);
    this.#settleDown(timeMs);
  }

  #isInTape(timeMs: number): boolean {
    const { startTimeMs, endTimeMs } = this.#market;
    return timeMs >= startTimeMs - TAPE_BEFORE_MS && timeMs < endTimeMs + TAPE_AFTER_MS;
  }

  #show(sessions: Iterable<PaperSession>, timeMs: number): void {
    this.#each(sessions, timeMs, (session) => session.step(0));
  }

  /** Drops a session that fails. */
  #each(sessions: Iterable<PaperSession>, timeMs: number, change: (session: MarketSession) => void): void {
    for (const paper of sessions) {
      if (timeMs < paper.fromMs) continue;
      try {
        change(paper.session);
      } catch (error) {
        this.#onBroken(paper, error);
        this.#sessions.delete(paper);
      }
    }
  }

  #showReached(timeMs: number): void {
    const reached = this.#triggers.reached();
    this.#show(reached, timeMs);
    for (const paper of reached) {
      if (paper.session.isIdle && this.#sessions.has(paper)) continue;
      this.#triggers.leave(paper);
      this.#awake.push(paper);
    }
  }

  /** Puts idle sessions to sleep, and drops finished ones. */
  #settleDown(timeMs: number): void {
    this.#triggers.seen();
    let left = 0;
    const awake = this.#awake;
    for (const session of awake) {
      const isThere = this.#sessions.has(session) && !session.session.isDone;
      const hasBegun = timeMs >= session.fromMs;
      if (isThere && !(hasBegun && this.#triggers.tryToSleep(session))) awake[left++] = session;
    }
    awake.length = left;
  }
}
