import { detectEndgame } from '../core/signals/endgame.ts';
import { detectLogical } from '../core/signals/logical.ts';
import { detectMispricing } from '../core/signals/mispricing.ts';
import type { Direction, MarketState, Signal, SignalTier } from '../core/signals/signal.ts';

/** The detectors in the order of their opportunities on the board. */
const SLOTS = ['logical', 'endgame', 'model'] as const;
type Slot = (typeof SLOTS)[number];

const DETECTORS: Readonly<Record<Slot, (state: MarketState) => Signal | null>> = {
  logical: detectLogical,
  endgame: detectEndgame,
  model: detectMispricing,
};

/** An open opportunity, from the first evaluation that finds it to the first that does not. */
export interface OpenOpportunity {
  readonly slot: Slot;
  /** Fixed at the beginning: a mispricing first seen before the price was stable stays `stale`. */
  readonly tier: SignalTier;
  /** The newest reading. */
  signal: Signal;
  /** Null until the host has found or created it. */
  first: FirstDetection | null;
}

/** The first detection of a market and kind, as in its audit row: there is one row, whatever is detected later. */
export interface FirstDetection {
  readonly detectedMs: number;
  readonly direction: Direction;
  /** Its row is written: only then may it be shown. */
  readonly isAudited: boolean;
}

/** Whether an episode matches its audit row: one in the other direction has no row, so it is not shown. */
export function isShown({ first, signal }: OpenOpportunity): boolean {
  return first?.isAudited === true && first.direction === signal.direction;
}

/** The open opportunities of one market. */
export class OpportunityTracker {
  readonly #open: Partial<Record<Slot, OpenOpportunity>> = {};

  /** @returns The opportunities that this state has and the previous one had not. */
  update(state: MarketState): readonly OpenOpportunity[] {
    let begun: OpenOpportunity[] | null = null;
    for (const slot of SLOTS) {
      const signal = DETECTORS[slot](state);
      const open = this.#open[slot];
      if (signal === null) {
        if (open !== undefined) delete this.#open[slot];
      } else if (open !== undefined && open.signal.direction === signal.direction) {
        open.signal = signal;
      } else {
        const opportunity = { slot, tier: signal.tier, signal, first: null };
        this.#open[slot] = opportunity;
        begun ??= [];
        begun.push(opportunity);
      }
    }
    return begun ?? NONE;
  }

  /** The open opportunities that this state has too, with its readings. Changes nothing. */
  openIn(state: MarketState): OpenOpportunity[] {
    return this.open.flatMap((open) => {
      const signal = DETECTORS[open.slot](state);
      return signal?.direction === open.signal.direction ? [{ ...open, signal }] : [];
    });
  }

  /**
   * Forgets the opportunities of a kind whose row could not be written; the next state that has one begins it again.
   */
  drop(tier: SignalTier): void {
    for (const slot of SLOTS) if (this.#open[slot]?.tier === tier) delete this.#open[slot];
  }

  clear(): void {
    for (const slot of SLOTS) delete this.#open[slot];
  }

  get open(): readonly OpenOpportunity[] {
    return SLOTS.flatMap((slot) => this.#open[slot] ?? []);
  }
}

const NONE: readonly OpenOpportunity[] = [];
