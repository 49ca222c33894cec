import { detectEndgame } from '../core/signals/endgame.ts';
import { detectLogical } from '../core/signals/logical.ts';
import { detectMispricing } from '../core/signals/mispricing.ts';
import type { Direction, MarketState, Signal, SignalTier } from '../core/signals/signal.ts';

/** The detectors in the order their chances stand on the board. */
export const SLOTS = ['logical', 'endgame', 'model'] as const;
export type Slot = (typeof SLOTS)[number];

const DETECTORS: Readonly<Record<Slot, (state: MarketState) => Signal | null>> = {
  logical: detectLogical,
  endgame: detectEndgame,
  model: detectMispricing,
};

/** A chance that stands, from the first state that showed it until one that does not. */
export interface Episode {
  readonly slot: Slot;
  /** As at its beginning: a mispricing that began on a young price stays `stale` for as long as it stands. */
  readonly tier: SignalTier;
  /** The newest reading. */
  signal: Signal;
  /** Null until the host has found or made it. */
  first: FirstDetection | null;
}

/** The first detection of a market in a tier, as its audit row has it: there is one row, whatever comes later. */
export interface FirstDetection {
  readonly detectedMs: number;
  readonly direction: Direction;
  /** Its row is written: only then may anyone see it. */
  readonly isAudited: boolean;
}

/** Whether an episode is what its audit row says: one in the other direction has no row, so nobody is shown it. */
export function isShown({ first, signal }: Episode): boolean {
  return first?.isAudited === true && first.direction === signal.direction;
}

/** The chances of one market that stand now. */
export class Episodes {
  readonly #standing: Partial<Record<Slot, Episode>> = {};

  /** @returns The chances that this state shows and the one before did not. */
  update(state: MarketState): readonly Episode[] {
    let begun: Episode[] | null = null;
    for (const slot of SLOTS) {
      const signal = DETECTORS[slot](state);
      const standing = this.#standing[slot];
      if (signal === null) {
        if (standing !== undefined) delete this.#standing[slot];
      } else if (standing !== undefined && standing.signal.direction === signal.direction) {
        standing.signal = signal;
      } else {
        const episode = { slot, tier: signal.tier, signal, first: null };
        this.#standing[slot] = episode;
        begun ??= [];
        begun.push(episode);
      }
    }
    return begun ?? NONE;
  }

  /** Forgets those of a tier whose row could not be written; the next state that shows one begins it again. */
  drop(tier: SignalTier): void {
    for (const slot of SLOTS) if (this.#standing[slot]?.tier === tier) delete this.#standing[slot];
  }

  clear(): void {
    for (const slot of SLOTS) delete this.#standing[slot];
  }

  get standing(): readonly Episode[] {
    return SLOTS.flatMap((slot) => this.#standing[slot] ?? []);
  }
}

const NONE: readonly Episode[] = [];
