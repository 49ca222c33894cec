import { expect, test } from 'vitest';
import { TAPE_MARKET, TapeWriter } from '../../../test/support/tapes.ts';
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
