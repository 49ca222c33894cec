/**
 * Position of our resting order in its level's queue. A recording shows neither whose orders were cancelled nor their
 * position, so the part of a decrease without a trade that was ahead of us is a model.
 * @see https://hftbacktest.readthedocs.io/en/latest/order_fill.html, read 2026-11
 */
import type { QueueModel } from '../../schema/strategy.ts';

/**
 * A trade's message and the book change that it caused arrive in either order, up to 0.6 s apart (measured by a
 * recorder of the venue, read 2026-11). So a trade explains decreases of its level this long before and after it.
 */
const EXPLAINED_MS = 1_000;

/** A decrease of the displayed size that no trade has explained yet. */
interface Decrease {
  readonly timeMs: number;
  /** Displayed size before it. */
  from: number;
  size: number;
}

/** A trade whose decrease has not been displayed yet. */
interface Credit {
  readonly timeMs: number;
  size: number;
}

export class QueuePosition {
  readonly #model: QueueModel;
  /** Units ahead of ours before the unexplained decreases; infinite: not known. */
  #base: number;
  /** Displayed size of the level, without ours; null: the level was not displayed. */
  #shown: number | null;
  #decreases: Decrease[] = [];
  #credits: Credit[] = [];

  /** @param shown Size displayed when we joined, all of it ahead of us; null: not known. */
  constructor(model: QueueModel, shown: number | null) {
    this.#model = model;
    this.#shown = shown;
    this.#base = shown ?? Number.POSITIVE_INFINITY;
  }

  /** Estimated units ahead of ours; infinite: not known. */
  get ahead(): number {
    let ahead = this.#base;
    for (const decrease of this.#decreases) ahead = aheadAfter(this.#model, ahead, decrease);
    return ahead;
  }

  /**
   * Applies a trade at our price.
   * @param recorded Its size as recorded, if other orders of ours have taken a part of it.
   * @returns Units of it that were left when all ahead of us was filled.
   */
  traded(size: number, timeMs: number, recorded = size): number {
    this.#settle(timeMs);
    let unexplained = recorded;
    let ahead = this.#base;
    for (const decrease of this.#decreases) {
      // Without this trade, the level would have displayed the units that it explained of earlier decreases.
      const from = decrease.from + recorded - unexplained;
      const explained = Math.min(unexplained, decrease.size);
      decrease.size -= explained;
      ahead = aheadAfter(this.#model, ahead, { ...decrease, from });
      decrease.from -= explained;
      unexplained -= explained;
    }
    if (unexplained > 0) this.#credits.push({ timeMs, size: unexplained });
    const reached = Math.floor(size - ahead);
    this.#base = Math.max(0, this.#base - size);
    return Math.max(0, reached);
  }

  /** A trade beyond our price: nothing can have been ahead of us. */
  passed(): void {
    this.#base = 0;
  }

  /** Applies the displayed size of the level (without ours); null: the level is not displayed. */
  displayed(size: number | null, timeMs: number): void {
    this.#settle(timeMs);
    const before = this.#shown;
    this.#shown = size;
    if (size === null) return;
    if (before === null) {
      // The newest known size is the most that can be ahead.
      this.#base = Math.min(this.ahead, size);
      this.#decreases = [];
      return;
    }
    let decreased = before - size;
    for (const credit of this.#credits) {
      const explained = Math.min(Math.max(0, decreased), credit.size);
      credit.size -= explained;
      decreased -= explained;
    }
    if (decreased > 0) this.#decreases.push({ timeMs, from: size + decreased, size: decreased });
  }

  /** The book was not proven for a while: all that is displayed afterwards counts as ahead of us. */
  lost(): void {
    this.#base = Number.POSITIVE_INFINITY;
    this.#shown = null;
    this.#decreases = [];
    this.#credits = [];
  }

  /** Applies the decreases that no trade can explain any more. */
  #settle(nowMs: number): void {
    while (this.#credits[0] !== undefined && this.#credits[0].timeMs < nowMs - EXPLAINED_MS)
      this.#credits.shift();
    for (;;) {
      const [oldest] = this.#decreases;
      if (oldest === undefined || oldest.timeMs >= nowMs - EXPLAINED_MS) return;
      this.#base = aheadAfter(this.#model, this.#base, oldest);
      this.#decreases.shift();
    }
  }
}

/** Units ahead of us after a decrease that was not a trade. */
function aheadAfter(model: QueueModel, ahead: number, { from, size }: Decrease): number {
  if (size === 0) return ahead;
  // The size ahead of us cannot exceed the displayed size.
  const most = Math.min(ahead, from - size);
  if (model === 'pessimistic') return most;
  const less = model === 'optimistic' ? ahead - size : ahead * (1 - size / from);
  return Math.max(0, Math.min(most, less));
}
