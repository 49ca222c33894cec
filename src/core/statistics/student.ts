/** Student's t distribution, by the incomplete beta function. */

const ITERATIONS_MAX = 300;
const PRECISION = 1e-15;
/** Keeps the continued fraction away from a division by zero. */
const TINY = 1e-300;

/**
 * Probability that Student's t with `freedom` degrees is at least as far from 0 as `t`, in either direction.
 * @param freedom Degrees of freedom, > 0.
 * @returns In [0, 1].
 */
export function studentTwoSided(t: number, freedom: number): number {
  return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

/**
 * The regularised incomplete beta function, by its continued fraction (modified Lentz).
 * @see NIST DLMF 8.17.22, https://dlmf.nist.gov/8.17.E22
 */
function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  // The fraction converges quickly below the mean; above it the mirrored function does.
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a);
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
  let [c, d] = [1, 1 / away(1 - ((a + b) * x) / (a + 1))];
  let fraction = d;
  for (let m = 1; m <= ITERATIONS_MAX; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    fraction *= c * d;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    fraction *= c * d;
    if (Math.abs(c * d - 1) < PRECISION) break;
  }
  return (front * fraction) / a;
}

function away(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}

/** Lanczos's coefficients for g = 7. */
const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** Logarithm of the gamma function for x >= 0.5, to about 15 digits. */
export function logGamma(x: number): number {
  const base = x + 6.5;
  const sum = LANCZOS.reduce(
    (total, coefficient, at) => total + (at === 0 ? coefficient : coefficient / (x - 1 + at)),
    0,
  );
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(base) - base + Math.log(sum);
}
