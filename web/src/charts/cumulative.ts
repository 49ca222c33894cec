type Level = readonly [price: number, size: number];

/** Prices with the sum of all sizes up to each, best first. */
export function cumulative(levels: readonly Level[]): Level[] {
  let sum = 0;
  return levels.map(([price, size]) => {
    sum += size;
    return [price, sum] as const;
  });
}
