import { isoTime, type Source, timeParam } from './sql.ts';

export function booksOf(marketId: string): Source {
  return {
    table: 'books',
    conditions: ['t.market_id = {market_id:String}'],
    params: { market_id: marketId },
  };
}

/** What is so of nearly every row, and makes its text much cheaper to print: see `snapshotText`. */
export const PLAIN_BOOK = 't.mirrored AND NOT t.wide';

/**
 * One column: the whole snapshot as JSON text. Built from text functions because the engine's own JSON writer
 * needs 1.5 times as long for the same ladders (200 against 136 ms of CPU for 10,000 books of 20 levels a side,
 * engine 26.7, 2026-11-21); NO uses the size texts of the YES side it mirrors.
 * Parameters: `underlying_ticker` (JSON text), and `depth` where `hasDepth`.
 * @param options.plain All rows fulfil `PLAIN_BOOK`: without the other cases the text takes two thirds of the CPU.
 */
export function snapshotText(options: { hasDepth: boolean; plain: boolean }): string {
  const take = (array: string) => (options.hasDepth ? `arraySlice(${array}, 1, {depth:UInt32})` : array);
  const narrow = (side: string) => `arrayMap(s -> toString(s / 100), ${take(`t.${side}_sz`)})`;
  const wide = (side: string) => `arrayMap(s -> toString(s), ${take(`t.${side}_szw`)})`;
  const sizes = (side: string) =>
    options.plain ? narrow(side) : `if(t.wide, ${wide(side)}, ${narrow(side)})`;
  const yes = (side: 'bid' | 'ask') => ladder(take(`t.yes_${side}_px`), sizes(`yes_${side}`));
  const mirrored = (opposite: 'bid' | 'ask') =>
    ladder(`arrayMap(p -> toUInt16(10000 - p), ${take(`t.yes_${opposite}_px`)})`, sizes(`yes_${opposite}`));
  const own = (side: 'bid' | 'ask') => ladder(take(`t.no_${side}_px`), sizes(`no_${side}`));
  const no = (side: 'bid' | 'ask', opposite: 'bid' | 'ask') =>
    options.plain ? mirrored(opposite) : `if(t.mirrored, ${mirrored(opposite)}, ${own(side)})`;
  return `concat('{"ts":"', ${isoTime('t.ts')},
    '","yes_bids":[', ${yes('bid')}, '],"yes_asks":[', ${yes('ask')},
    '],"no_bids":[', ${no('bid', 'ask')}, '],"no_asks":[', ${no('ask', 'bid')},
    '],"underlying_price":', ifNull(toString(if(isFinite(t.underlying), t.underlying, NULL)), 'null'),
    ',"underlying_ticker":', {underlying_ticker:String}, ',"trusted":', if(t.trusted, 'true', 'false'), '}')`;
}

/** How the lines of one chunk join its neighbours in one JSON array. */
export interface ChunkEnds {
  /** Before the first row: `[` of the array, or the comma after the chunk before. */
  readonly open: '[' | ',';
  /** After the last row: `]` of the array, or a blank that shows the chunk came whole. */
  readonly close: ']' | ' ';
}

/**
 * `text` with the brackets and commas that make the lines of a chunk part of one JSON array, by the chunk's own
 * bounds. Its end stands on its last row, so an answer cut short cannot pass for a whole one.
 */
export function arrayLines(text: string, ends: ChunkEnds, descending: boolean): string {
  const isBound = (name: string) => `(t.ts, t.seq) = (${timeParam(`${name}_ms`)}, {${name}_seq:UInt64})`;
  const [first, last] = descending ? ['high', 'low'] : ['low', 'high'];
  return `concat(if(${isBound(first)}, '${ends.open}', ','), ${text}, if(${isBound(last)}, '${ends.close}', ''))`;
}

function ladder(prices: string, sizes: string): string {
  return `arrayStringConcat(arrayMap((p, s) -> concat('{"price":', toString(p / 10000), ',"size":', s, '}'), ${prices}, ${sizes}), ',')`;
}

/** Tab-separated values with one column is the text itself, a line a row; the texts hold nothing it would escape. */
export const TEXT_LINES = {
  format: 'TSV',
  settings: { query_plan_optimize_lazy_materialization: 0 },
} as const;
