import { expect, test } from 'vitest';
import { START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import { DEFAULT_PARAMS } from '../../schema/api/strategies.ts';
import type { Condition, ConditionBased, Strategy } from '../../schema/strategy.ts';
import { compileStrategy } from '../strategies/compile.ts';
import { prepareMarket } from './prepare.ts';
import { replayMarket, replayResults } from './replay.ts';
import type { MarketTape, Resolution } from './tape.ts';

const UP: Resolution = { payoutYes: 1, resolvedTimeMs: START_MS + 420_000 };
const LENGTH_MS = 300_000;
const cheap: Strategy = { type: 'threshold_entry', threshold: 0.1, direction: 'below', side: 'buy_yes' };
const when = (condition: Condition): ConditionBased => ({
  ...{ type: 'condition_based', side: 'buy_yes', entry: [condition] },
  ...{ take_profit: [], stop_loss: [], max_trades_per_market: 1 },
});
const heavyBids = when({ metric: 'imbalance', operator: 'above', value: 0.99 });
const farAbove = when({ metric: 'underlying_distance_pct', operator: 'above', value: 50 });

/** Books at these times (ms after the start), all proven or none. */
function at(times: readonly number[], trusted = true, market = {}): TapeWriter {
  const writer = new TapeWriter(market);
  for (const [n, time] of times.entries())
    writer.book({ at: time, bids: [[0.4, 1 + n]], asks: [[0.5, 1]], trusted });
  return writer;
}

/** Best prices from before the window on, and the books that are still stored: those from this time on. */
function booksFrom(storedFrom: number, provenFrom = Number.NEGATIVE_INFINITY): MarketTape {
  const writer = new TapeWriter();
  for (const [n, time] of [-1_000, 0, 60_000, 120_000].entries())
    writer.book({
      ...{ at: time, bids: [[0.3 + n / 100, 1]], asks: [[0.5, 1]] },
      trusted: time >= provenFrom,
    });
  const tape = writer.tape();
  const { books } = tape;
  if (books === null) throw new Error('a tape with books has some');
  const first = books.receivedMs.findIndex((receivedMs) => receivedMs >= START_MS + storedFrom);
  const from = first < 0 ? books.seq.length : first;
  const side = ({ offsets, ...levels }: typeof books.yesBids) => ({
    ...levels,
    offsets: offsets.slice(from),
  });
  return {
    ...tape,
    books: {
      ...books,
      ...{ seq: books.seq.slice(from), receivedMs: books.receivedMs.slice(from) },
      ...{ trusted: books.trusted.slice(from), yesBids: side(books.yesBids), yesAsks: side(books.yesAsks) },
    },
  };
}

function skippedOf(
  tape: MarketTape,
  {
    strategy = cheap,
    mode = 'walk_book',
    resolution = UP,
  }: { strategy?: Strategy; mode?: 'walk_book' | 'mid'; resolution?: Resolution | null } = {},
) {
  const compiled = compileStrategy(strategy);
  const params = { ...DEFAULT_PARAMS, fill_mode: mode };
  const terms = { strategy: compiled, size: 10_000_000, params };
  const prepared = prepareMarket(tape, compiled.needs);
  const { skipped, trades } = replayMarket(prepared, terms, { resolution });
  // What a sweep's cell reports.
  const results = trades.map(({ closedMs, pnl }) => ({ closedMs, pnl }));
  expect(replayResults(prepared, terms, resolution)).toEqual({ skipped, results });
  return skipped;
}

test.each<[string, MarketTape, Parameters<typeof skippedOf>[1], ReturnType<typeof skippedOf>]>([
  ['without an outcome, before all else', at([]).tape({ books: false }), { resolution: null }, 'unresolved'],
  ['without books to walk', at([0]).tape({ books: false }), {}, 'no_books'],
  ['without books to read', at([0]).tape({ books: false }), { strategy: heavyBids, mode: 'mid' }, 'no_books'],
  ['not without books that nobody needs', at([0]).tape({ books: false }), { mode: 'mid' }, null],
  ['without a stored book to walk', booksFrom(Number.POSITIVE_INFINITY), {}, 'no_books'],
  [
    'without a stored book to read',
    booksFrom(Number.POSITIVE_INFINITY),
    { strategy: heavyBids, mode: 'mid' },
    'no_books',
  ],
  ['not without a stored book that nobody needs', booksFrom(Number.POSITIVE_INFINITY), { mode: 'mid' }, null],
  ['without stored books in a first part of its window', booksFrom(61_000), {}, 'gap'],
  ['not without those that nobody needs', booksFrom(61_000), { mode: 'mid' }, null],
  ['not with the first stored book a minute after its start', booksFrom(60_000), {}, null],
  ['not with that book a minute after its first proven prices', booksFrom(61_000, 60_000), {}, null],
  ['without a row in its window', at([-1, LENGTH_MS]).tape(), {}, 'no_data'],
  ['without a row in its window and without a stored book', at([]).tape(), {}, 'no_data'],
  ['without a proven row in its window', at([0, LENGTH_MS - 1], false).tape(), {}, 'gap'],
  [
    'without a proven row in its window, though a book from before it was valid for a while',
    at([-1])
      .book({ at: 100, bids: [[0.4, 9]], trusted: false })
      .tape(),
    {},
    'gap',
  ],
  ['not with a proven row at its start', at([0]).tape(), {}, null],
  ['not with a proven row before its end', at([LENGTH_MS - 1]).tape(), {}, null],
  ['without a strike', at([0], true, { strikePrice: null }).tape(), { strategy: farAbove }, 'no_strike'],
  [
    'without a time from which its strike is known',
    at([0], true, { strikeKnownTimeMs: null }).tape(),
    { strategy: farAbove },
    'no_strike',
  ],
  ['not without a strike that nobody needs', at([0], true, { strikePrice: null }).tape(), {}, null],
  ['not with a strike that came late', at([0]).tape(), { strategy: farAbove }, null],
])('a market is skipped %s', (_, tape, terms, reason) => {
  expect(skippedOf(tape, terms)).toBe(reason);
});
