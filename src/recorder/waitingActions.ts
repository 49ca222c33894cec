import type { Clock, Timer } from '../runtime/clock.ts';
import { ACTION_QUIET_MS } from '../venues/polymarket/book/bookAction.ts';
import type { RecordedMarket } from './recordedMarket.ts';

interface WaitingActionsOptions {
  readonly clock: Clock;
  readonly finish: (recorded: RecordedMarket) => void;
  /** Called when an action may have been quiet for long enough. */
  readonly onDue: () => void;
}

/** The markets whose book waits for more frames of an action. */
export class WaitingActions {
  readonly #options: WaitingActionsOptions;
  readonly #markets = new Set<RecordedMarket>();
  #timer: Timer | null = null;

  constructor(options: WaitingActionsOptions) {
    this.#options = options;
  }

  /** Adds a market if its book waits. */
  add(recorded: RecordedMarket): void {
    if (recorded.book.waitingSinceMs !== null) this.#markets.add(recorded);
  }

  forget(recorded: RecordedMarket): void {
    this.#markets.delete(recorded);
  }

  /** Finishes the actions of all markets but one that are quiet for long enough at `nowMs`; Infinity finishes all. */
  finishQuiet(nowMs: number, butMarketId?: string): void {
    for (const recorded of this.#markets) {
      if (recorded.market.marketId === butMarketId) continue;
      const since = recorded.book.waitingSinceMs;
      if (since !== null && nowMs - since < ACTION_QUIET_MS) continue;
      this.#markets.delete(recorded);
      this.#options.finish(recorded);
    }
  }

  /** Calls `onDue` once the newest action may have been quiet for long enough, and again while actions wait. */
  startTimer(): void {
    const { clock, onDue } = this.#options;
    if (this.#timer !== null || this.#markets.size === 0) return;
    this.#timer = clock.after(ACTION_QUIET_MS, () => {
      // Runs one turn later, after data that is already in the sockets.
      this.#timer = clock.after(0, () => {
        this.#timer = null;
        onDue();
        this.startTimer();
      });
    });
  }

  stopTimer(): void {
    this.#timer?.cancel();
  }
}
