import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { type NativeBook, nativeBooks } from '../../test/support/nativeBooks.ts';
import { STUB_MARKET, stubStore } from '../../test/support/stubStore.ts';

const ROWS_A_BLOCK = 100;
const LEVELS_A_SIDE = 60;
/** Blocks of a response too long for all buffers, and of a short one. */
const [MANY, FEW] = [40, 4];
const levelsOfBlocks = (blocks: number) => blocks * ROWS_A_BLOCK * 4 * LEVELS_A_SIDE;
const TIME_MS = Date.UTC(2026, 10, 20, 12);

/** Books whose sizes are `size` alone, so that a piece of one answer in another shows. */
function bookOf(size: number): NativeBook {
  const side = (from: number) =>
    Array.from({ length: LEVELS_A_SIDE }, (_, i): [number, number] => [from + i, size]);
  return {
    ...{ timeMs: TIME_MS, trusted: true, mirrored: true, underlying: 91_234.5, wide: false },
    sides: [side(4_000), side(5_000), [], []],
  };
}

/** An API whose n-th response contains only sizes n; the first two are long. */
async function rig() {
  let answers = 0;
  const stream = async () => {
    const books = Array<NativeBook>(ROWS_A_BLOCK).fill(bookOf(++answers));
    const blocks = answers <= 2 ? MANY : FEW;
    const rows = blocks * ROWS_A_BLOCK;
    const rest = nativeBooks(books, []);
    const first = nativeBooks(books, [rows, TIME_MS, 1, TIME_MS, rows]);
    return Readable.from([first, ...Array<Buffer>(blocks - 1).fill(rest)]);
  };
  const app = testApi({ store: stubStore({ stream }) });
  await app.listen({ port: 0, host: '127.0.0.1' });
  onTestFinished(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  return async () => {
    const asked = request({
      port,
      path: `/v1/snapshots?market_id=${STUB_MARKET}`,
      headers: KEY,
      agent: false,
    });
    asked.end();
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    return answer;
  };
}

/** Number of levels with size `n` in a body; fails on any other size. */
function levelsOf(n: number, body: string): number {
  const levels = body.split(`"size":${n}}`).length - 1;
  expect(body.split('"size":').length - 1).toBe(levels);
  return levels;
}

test('responses that are read slowly, or never, do not print into each other', async () => {
  const ask = await rig();
  const slow = await ask();
  const gone = await ask();
  for (let n = 3; n <= 6; n++) expect(levelsOf(n, await text(await ask()))).toBe(levelsOfBlocks(FEW));
  gone.destroy();
  const [one, other] = [await ask(), await ask()];
  const together = Promise.all([text(one), text(other)]);
  expect(levelsOf(1, await text(slow))).toBe(levelsOfBlocks(MANY));
  expect((await together).map((body, index) => levelsOf(7 + index, body))).toEqual([
    levelsOfBlocks(FEW),
    levelsOfBlocks(FEW),
  ]);
});
