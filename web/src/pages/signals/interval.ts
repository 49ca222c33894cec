/** Standard deviations that contain 95 % of a normal distribution. */
const Z = 1.96;

/** 95 % interval of a mean; null for fewer than two values, whose spread is unknown. */
export function intervalOf(values: readonly number[]): { low: number; high: number } | null {
  const count = values.length;
  if (count < 2) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  const half = Z * Math.sqrt(variance / count);
  return { low: mean - half, high: mean + half };
}
