import type { EquityPoint } from './result.ts';

/** Time between two points without a fill, at first; it doubles whenever there are too many such points. */
const EQUITY_INTERVAL_MS = 10_000;
/** Points without a fill of one run. */
const SAMPLES_MAX = 10_000;

interface CurvePoint extends EquityPoint {
  /** Of a fill, a payout or a reversal: never thinned out. */
  readonly isChange: boolean;
}

/** The equity of a run over time: a point after each change of money, and in between one per interval. */
export class EquityCurve {
  #points: CurvePoint[] = [];
  #samples = 0;
  #intervalMs = EQUITY_INTERVAL_MS;
  /** The next sample is due from this time on. */
  nextMs = Number.NEGATIVE_INFINITY;

  add(point: EquityPoint, isChange: boolean): void {
    this.nextMs = point.timeMs + this.#intervalMs;
    this.#points.push({ ...point, isChange });
    if (!isChange && ++this.#samples > SAMPLES_MAX) this.#thinOut();
  }

  /** Nothing that could change its value is held. */
  skip(nowMs: number): void {
    this.nextMs = nowMs + this.#intervalMs;
  }

  points(): EquityPoint[] {
    return this.#points.map(({ isChange: _, ...point }) => point);
  }

  #thinOut(): void {
    this.#intervalMs *= 2;
    let lastMs = Number.NEGATIVE_INFINITY;
    this.#samples = 0;
    this.#points = this.#points.filter(({ timeMs, isChange }) => {
      const stays = isChange || timeMs - lastMs >= this.#intervalMs;
      if (stays) lastMs = timeMs;
      if (stays && !isChange) this.#samples++;
      return stays;
    });
  }
}
