/** The least and the greatest of some numbers; infinite without any. */
export function extentOf(values: Iterable<number>): readonly [least: number, greatest: number] {
  // Not `Math.min(...)`: a call takes some 120,000 arguments at most.
  let [least, greatest] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) [least, greatest] = [Math.min(least, value), Math.max(greatest, value)];
  return [least, greatest];
}
