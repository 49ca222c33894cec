const MIRRORS = { no_bid: 'yes_ask', no_ask: 'yes_bid' } as const;

/**
 * Levels of one side of a stored book as the API's level objects, best first; a mirrored row's NO is computed from its
 * YES.
 */
export function levels(side: 'yes_bid' | 'yes_ask' | 'no_bid' | 'no_ask'): string {
  const sizes = (of: string) => `if(t.wide, t.${of}_szw, arrayMap(s -> s / 100, t.${of}_sz))`;
  const own = `arrayZip(arrayMap(p -> p / 10000, t.${side}_px), ${sizes(side)})`;
  const mirror = side === 'no_bid' || side === 'no_ask' ? MIRRORS[side] : null;
  const both =
    mirror === null
      ? own
      : `if(t.mirrored, arrayZip(arrayMap(p -> (10000 - p) / 10000, t.${mirror}_px), ${sizes(mirror)}), ${own})`;
  return `CAST(${both}, 'Array(Tuple(price Float64, size Float64))')`;
}
