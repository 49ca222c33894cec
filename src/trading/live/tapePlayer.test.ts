import { expect, test } from 'vitest';
import { ofOneNumber, START_MS, TAPE_MARKET, TapeWriter } from '../../../test/support/tapes.ts';
import type { MarketTape, TapeGap } from '../../core/session/tape.ts';
import type { PaperMarket } from './paperMarket.ts';
import { TapePlayer } from './tapePlayer.ts';

/** What a market is given, in order: the arrival numbers of rows, and the strikes of terms. */
function playedBy(play: (player: TapePlayer) => void, terms: readonly number[] = []): (number | string)[] {
  const given: (number | string)[] = [];
  const row = ({ seq }: { seq: number }) => void given.push(seq);
  const market = {
    ...{ market: TAPE_MARKET, quote: row, book: row, price: row, trade: row },
    update: ({ strikePrice }: { strikePrice: number }) => void given.push(`terms ${strikePrice}`),
    ...{ gapDetected: () => {}, gapEnded: () => {} },
  };
  const { marketId } = TAPE_MARKET;
  const versions = terms.map((afterSeq) => {
    return { marketId, afterSeq, terms: { ...TAPE_MARKET, strikePrice: afterSeq } };
  });
  play(new TapePlayer(market as unknown as PaperMarket, versions));
  return given;
}

const TAPE = new TapeWriter()
  .book({ at: 0, bids: [[0.4, 1]], asks: [[0.5, 1]] })
  .book({ at: 1_000, bids: [[0.4, 2]], asks: [[0.5, 2]] })
  .book({ at: 2_000, bids: [[0.4, 3]], asks: [[0.5, 3]] })
  .tape();
const seqs = (played: readonly (number | string)[]) => played.filter((entry) => typeof entry === 'number');
const all = seqs(playedBy((player) => [...player.play(TAPE)]));

test('rows are played in order of arrival, up to before a number', () => {
  expect(all).toEqual(all.toSorted((a, b) => a - b));
  expect(all.length).toBeGreaterThan(2);
  const last = all.at(-1) as number;
  let newest = 0;
  const before = playedBy((player) => {
    for (const _ of player.play(TAPE, last));
    newest = player.lastSeq;
  });
  expect(before).toEqual(all.filter((seq) => seq < last));
  expect(newest).toBe(before.at(-1));
});

test('terms apply after the row that they followed, and before the next', () => {
  const [first, second] = all as [number, number];
  const played = playedBy(
    (player) => {
      for (const _ of player.play(TAPE));
      player.finish();
    },
    [first, second, 1_000_000],
  );
  const [, , ...rest] = all;
  expect(played).toEqual([first, `terms ${first}`, second, `terms ${second}`, ...rest, 'terms 1000000']);
});

/** Every record that a market is given, and the gaps. */
function recordsOf(tape: MarketTape, beforeSeq?: number): Record<string, unknown>[] {
  const given: Record<string, unknown>[] = [];
  const as = (kind: string) => (record: object) => void given.push({ kind, ...record });
  const market = {
    ...{ market: TAPE_MARKET, quote: as('quote'), book: as('book'), price: as('price'), trade: as('trade') },
    ...{ gapDetected: as('gap'), gapEnded: as('gap_end') },
  };
  const player = new TapePlayer(market as unknown as PaperMarket);
  for (const _ of player.play(tape));
  player.finish(beforeSeq);
  return given;
}

test('of one arrival number trades come first, then prices, books and quotes, as they were received', () => {
  const writer = new TapeWriter().book({ at: 0, bids: [[0.4, 1]] }).price(0, 97_000);
  const tape = ofOneNumber(writer.trade({ at: 0, side: 'SELL_NO', price: 0.5, shares: 2 }).tape(), 7);
  const received = {
    seq: 7,
    eventTimeMs: START_MS,
    receivedTimeMs: START_MS,
    marketId: TAPE_MARKET.marketId,
  };
  expect(recordsOf(tape)).toMatchObject([
    {
      ...{ kind: 'trade', ...received, eventTimeMs: START_MS - 40 },
      ...{ side: 'SELL_NO', price: 5_000, size: 2_000_000 },
    },
    { kind: 'price', seq: 7, receivedMs: START_MS, eventMs: START_MS - 30, price: 97_000 },
    {
      kind: 'book',
      ...received,
      trusted: true,
      mirrored: true,
      yes: { bids: { count: 1 }, asks: { count: 0 } },
    },
    {
      ...{ kind: 'quote', ...received, trusted: true, underlyingPrice: null },
      ...{ yesBid: 4_000, yesAsk: null, noBid: null, noAsk: 6_000 },
    },
  ]);
});

test('a gap without an arrival number is reported before the first book, quote or price of the window since then', () => {
  const tape = (gap: Partial<TapeGap>) => ({
    ...new TapeWriter()
      .price(-400, 97_000)
      .book({ at: -300, bids: [[0.4, 1]] })
      .price(0, 97_001)
      .book({ at: 200, bids: [[0.4, 2]] })
      .tape(),
    gaps: [{ startMs: START_MS - 5_000, knownMs: START_MS, endMs: null, ...gap }],
  });
  const kinds = (gap: Partial<TapeGap>) => recordsOf(tape(gap)).map(({ kind }) => kind);
  expect(kinds({ knownMs: START_MS - 400 })).toEqual(['price', 'gap', 'book', 'quote', 'price', 'book']);
  expect(kinds({ knownMs: START_MS })).toEqual(['price', 'book', 'quote', 'gap', 'price', 'book']);
  expect(kinds({ knownMs: START_MS + 200 })).toEqual(['price', 'book', 'quote', 'price', 'gap', 'book']);
  expect(kinds({ knownMs: START_MS + 201, endMs: START_MS + 300 })).toEqual([
    ...['price', 'book', 'quote', 'price', 'book', 'gap', 'gap_end'],
  ]);
});

test('it lets other work run after every 64 rows', () => {
  const writer = new TapeWriter();
  for (let row = 0; row < 130; row++) writer.price(row, 97_000);
  const row = () => undefined;
  const market = { market: TAPE_MARKET, price: row, gapDetected: row, gapEnded: row };
  expect([...new TapePlayer(market as unknown as PaperMarket).play(writer.tape())]).toHaveLength(2);
});

test('a gap detected after the last row is reported at the end, unless the live stream reports it', () => {
  const startMs = START_MS + 2_500;
  const lastSeq = all.at(-1) as number;
  const tape = { ...TAPE, gaps: [{ startMs, knownMs: startMs, endMs: null, knownSeq: lastSeq + 1 }] };
  const lastKind = (beforeSeq: number) => recordsOf(tape, beforeSeq).at(-1)?.kind;
  expect(lastKind(lastSeq + 2)).toBe('gap');
  expect(lastKind(lastSeq + 1)).toBe('book');
});

test('a gap is reported before the row that follows its detection', () => {
  const [, second] = all as [number, number];
  const startMs = START_MS + 100;
  const gaps = [{ startMs, knownMs: startMs, endMs: null, knownSeq: second - 0.5 }];
  const given = recordsOf({ ...TAPE, gaps });
  const at = given.findIndex(({ kind }) => kind === 'gap');
  expect(given[at + 1]?.seq).toBe(second);
});

test('an untrusted book whose NO side is its own is neither trusted nor mirrored', () => {
  const tape = new TapeWriter().book({ at: 0, bids: [[0.4, 1]], asks: [[0.5, 1]], trusted: false }).tape();
  const { yesBids, yesAsks } = tape.books as NonNullable<MarketTape['books']>;
  const own = { noBids: yesBids, noAsks: yesAsks };
  const books = { ...tape.books, ...own } as NonNullable<MarketTape['books']>;
  const [book] = recordsOf({ ...tape, books });
  expect(book).toMatchObject({ kind: 'book', trusted: false, mirrored: false });
});
