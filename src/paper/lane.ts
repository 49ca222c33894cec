import { LiveMarket, type LiveTerms } from '../core/replay/liveMarket.ts';
import { ROW_GAP_KNOWN, ROW_PRICE } from '../core/replay/rows.ts';
import type { TapeMarket } from '../core/replay/tape.ts';
import { TAPE_AFTER_MS, TAPE_BEFORE_MS } from '../store/tapes.ts';
import type { PaperSession } from './livePaper.ts';

export type OnBroken = (session: PaperSession, error: unknown) => void;

/** The sessions of one market that see the same rows. */
export class Lane {
  readonly live: LiveMarket;
  readonly #market: TapeMarket;
  readonly #onBroken: OnBroken;
  #sessions: PaperSession[] = [];
  /** Those whose next row may change something. */
  #running: PaperSession[] = [];

  constructor(
    market: TapeMarket,
    { onBroken, ...terms }: Omit<LiveTerms, 'fromMs'> & { onBroken: OnBroken },
  ) {
    this.#market = market;
    this.#onBroken = onBroken;
    this.live = new LiveMarket(market, { ...terms, fromMs: market.startTimeMs - TAPE_BEFORE_MS });
  }

  get sessions(): readonly PaperSession[] {
    return this.#sessions;
  }

  addAll(sessions: readonly PaperSession[]): void {
    for (const session of sessions) this.#sessions.push(session);
    this.#sort();
  }

  keep(wanted: (session: PaperSession) => boolean): void {
    this.#sessions = this.#sessions.filter(wanted);
    this.#sort();
  }

  /** Shows the newest row to those it may change something for. */
  step(): void {
    this.#show(this.#running);
  }

  /** Shows it to all: a gap has become known or ended. */
  stepAll(): void {
    this.#show(this.#sessions);
  }

  #show(sessions: readonly PaperSession[]): void {
    const { rows } = this.live;
    const timeMs = rows.timeMs[0] as number;
    const kind = rows.kind[0] as number;
    const { startTimeMs, endTimeMs } = this.#market;
    // However late a gap is found, what was dealt in it is taken back.
    const isLate = timeMs >= endTimeMs + TAPE_AFTER_MS && kind !== ROW_GAP_KNOWN;
    if (timeMs < startTimeMs - TAPE_BEFORE_MS || isLate) return;
    let finished = 0;
    let broken: Set<PaperSession> | null = null;
    for (const paper of sessions) {
      if (timeMs < paper.fromMs) continue;
      try {
        paper.session.step(0);
        if (paper.session.finished) finished++;
      } catch (error) {
        this.#onBroken(paper, error);
        broken ??= new Set();
        broken.add(paper);
      }
    }
    if (broken !== null) this.keep((session) => !broken.has(session));
    // Only a gap can give a finished one something to do again.
    if (kind === ROW_GAP_KNOWN || (finished > 0 && kind !== ROW_PRICE)) this.#sort();
  }

  #sort(): void {
    this.#running = this.#sessions.filter(({ session }) => !session.finished);
  }
}
