import { normalCdf } from '../pricing/normal.ts';

const STEPS_MAX = 60;
const TWO_PI = 2 * Math.PI;

/**
 * The quantile of the standard normal distribution: the inverse of `normalCdf`, to its accuracy.
 * @param probability In (0, 1).
 * @throws {RangeError} At or outside 0 and 1, where the quantile is infinite or undefined.
 */
export function normalQuantile(probability: number): number {
  if (!(probability > 0 && probability < 1)) throw new RangeError(`not inside (0, 1): ${probability}`);
  // The lower half only: near 1 the upper tail would be lost in the rounding of 1 - tail.
  if (probability > 0.5) return -lowerQuantile(1 - probability);
  return lowerQuantile(probability);
}

/** Newton's steps on the logarithm of the tail, which is concave: from the left they never overshoot. */
function lowerQuantile(probability: number): number {
  const target = Math.log(probability);
  let x = -Math.sqrt(-2 * target);
  for (let step = 0; step < STEPS_MAX; step++) {
    const tail = normalCdf(x);
    const density = Math.exp((-x * x) / 2) / Math.sqrt(TWO_PI);
    const next = x - ((Math.log(tail) - target) * tail) / density;
    if (Math.abs(next - x) <= Number.EPSILON * Math.abs(next)) return next;
    x = next;
  }
  return x;
}
