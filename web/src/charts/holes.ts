/**
 * The values without the last one before each hole in the times: a line that ends there does not cross the hole.
 * @param seconds Times further apart than this are a hole.
 */
export function withHoles(
  times: readonly number[],
  values: readonly (number | null)[],
  seconds: number,
): (number | null)[] {
  return values.map((value, index) => {
    const next = times[index + 1];
    return next !== undefined && next - (times[index] as number) > seconds ? null : value;
  });
}
