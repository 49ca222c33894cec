import type { Source } from './sql.ts';
import { TRUST_REVISION, TRUSTED } from './trust.ts';

export function booksOf(marketId: string): Source {
  return {
    table: 'books',
    conditions: ['t.market_id = {market_id:String}'],
    params: { market_id: marketId },
    revision: TRUST_REVISION,
  };
}

const LADDERS = ['px', 'sz', 'szw'].flatMap((suffix) =>
  ['yes_bid', 'yes_ask', 'no_bid', 'no_ask'].map((side) => `t.${side}_${suffix}`),
);

/**
 * The columns that `BookRowReader` reads, in its order and for the format `BOOK_FORMAT`. Parameters: `market_id`, and where
 * `hasDepth` is set `depth`, the levels per side. `time`, `trusted` and `underlying` may be any expressions of those
 * columns' types, for readers that need other values.
 */
export function bookColumns({
  hasDepth,
  time = 't.ts',
  trusted = TRUSTED,
  underlying = 't.underlying',
}: {
  hasDepth: boolean;
  time?: string;
  trusted?: string;
  underlying?: string;
}): string {
  const ladders = LADDERS.map((column) => (hasDepth ? `arraySlice(${column}, 1, {depth:UInt32})` : column));
  return [time, trusted, 't.mirrored', underlying, 't.wide', ...ladders].join(', ');
}
