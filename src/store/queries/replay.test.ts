import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import type { StoreReader } from '../reader.ts';
import { nextBooks } from './replay.ts';

const RANGE = { fromMs: 0, toMs: 1_000 };
const NEVER = new AbortController().signal;
/** Two markets by the arrival numbers of their books. */
const BOOKS = { early: [1, 100], later: [50, 51, 120] };
const MARKETS = Object.keys(BOOKS).map((marketId) => ({ marketId, ticker: 'BTC', eventType: '5m' }) as const);
const SPANS = Object.entries(BOOKS).map(([marketId, seqs]) => ({
  ...{ marketId, firstSeq: Math.min(...seqs), lastSeq: Math.max(...seqs) },
}));

interface Asked {
  readonly ids: readonly string[];
  readonly after: number;
  readonly before: number;
  readonly limit: number;
}

/** A store with these books, and the markets that each statement read. */
function storeOf() {
  const read: (readonly string[])[] = [];
  const stream: StoreReader['stream'] = async (_, params) => {
    const { ids, after, before, limit } = params as unknown as Asked;
    read.push(ids);
    const found = Object.entries(BOOKS)
      .filter(([marketId]) => ids.includes(marketId))
      .flatMap(([marketId, seqs]) => seqs.map((seq) => ({ at: seq, seq, market_id: marketId, ts: '' })))
      .filter(({ seq }) => seq > after && seq < before);
    const page = found.sort((a, b) => a.seq - b.seq).slice(0, limit);
    return Readable.from(page.map((book) => Buffer.from(`${JSON.stringify(book)}\n`)));
  };
  return { store: { stream } as StoreReader, read };
}

test.each([1, 2, 100])('pages of %i books have every book of all markets once, in order', async (limit) => {
  const { store } = storeOf();
  const seqs: number[] = [];
  for (let afterSeq = 0; ; afterSeq = seqs.at(-1) as number) {
    const asked = { markets: MARKETS, spans: SPANS };
    const books = await nextBooks(store, asked, { ...RANGE, afterSeq, limit }, NEVER);
    if (books.length === 0) break;
    seqs.push(...books.map(({ seq }) => seq));
  }
  expect(seqs).toEqual([1, 50, 51, 100, 120]);
});

test('a page reads only the markets that were recorded at its time', async () => {
  const { store, read } = storeOf();
  const next = (afterSeq: number) =>
    nextBooks(store, { markets: MARKETS, spans: SPANS }, { ...RANGE, afterSeq, limit: 100 }, NEVER);
  expect((await next(0)).map(({ seq }) => seq)).toEqual([1]);
  expect((await next(100)).map(({ seq }) => seq)).toEqual([120]);
  expect(read).toEqual([['early'], ['later']]);
});
