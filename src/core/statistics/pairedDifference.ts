/**
 * Whether one strategy earned more than another on the same markets: a paired t-test on the means of blocks of
 * neighbouring markets. Neighbours depend on each other (one price path decides several windows), and the mean of a
 * block of them depends much less on the next one, so the test keeps its level where a plain t-test rejects too often.
 * @see Law, Kelton 1984, https://doi.org/10.1287/opre.32.6.1221 (batch means); Student 1908,
 * https://doi.org/10.1093/biomet/6.1.1 (paired test and its example)
 */
import { momentsOf } from './returns.ts';
import { dependenceLength } from './serialCorrelation.ts';
import { studentTwoSided } from './student.ts';

/** The difference that a test of level 5 % finds four times in five, in standard errors: 1.96 + 0.84. */
const DETECTABLE_ERRORS = 2.8;

interface PairedTest {
  readonly pairs: number;
  /** Mean difference of a pair. */
  readonly mean: number;
  readonly standardError: number;
  readonly t: number;
  readonly freedom: number;
  /** Two-sided. */
  readonly p: number;
  readonly blockLength: number;
  /** Smallest mean difference that a comparison of this size usually finds. */
  readonly detectable: number;
}

/**
 * @param differences Of the pairs, in order of time; in any one unit.
 * @param blockLength Pairs averaged before the test; 1: the plain paired t-test. Surplus pairs at the beginning join
 * the first block.
 * @returns Null with fewer than two blocks, or if all blocks are equal.
 */
export function pairedTest(
  differences: readonly number[],
  blockLength = dependenceLength(differences.length),
): PairedTest | null {
  const count = Math.floor(differences.length / blockLength);
  if (count < 2) return null;
  const first = differences.length - (count - 1) * blockLength;
  const means = Array.from({ length: count }, (_, block) => {
    const from = block === 0 ? 0 : first + (block - 1) * blockLength;
    return meanOf(differences.slice(from, block === 0 ? first : from + blockLength));
  });
  const moments = momentsOf(means);
  if (moments === null) return null;
  const standardError = moments.deviation / Math.sqrt(count);
  const t = moments.mean / standardError;
  return {
    pairs: differences.length,
    mean: meanOf(differences),
    standardError,
    t,
    freedom: count - 1,
    p: studentTwoSided(t, count - 1),
    blockLength,
    detectable: DETECTABLE_ERRORS * standardError,
  };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
