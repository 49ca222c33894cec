import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { printRows, ROWS_A_TURN, rowsObject } from './rowPages.ts';

/** A list of numbers, the sizes in which it was read, and the turns of the event loop that passed meanwhile. */
async function printed(rows: number, limit: number) {
  const list = Array.from({ length: rows }, (_, at) => at + 1);
  const asked: number[] = [];
  let [turns, isOver] = [0, false];
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const result = await printRows<number>({
    limit,
    read: async (most, after) => {
      asked.push(most);
      return list.slice(after ?? 0, (after ?? 0) + most);
    },
    print: (row) => JSON.stringify({ row }),
  });
  isOver = true;
  const around = {
    head: JSON.stringify({ count: result.count }),
    tail: JSON.stringify({ next: result.next }),
  };
  const body = rowsObject('rows', result, around);
  const shown = list.slice(0, limit).map((row) => ({ row }));
  return {
    ...{ asked, turns, isStream: body instanceof Readable },
    body: typeof body === 'string' ? body : await text(body),
    whole: JSON.stringify({
      count: shown.length,
      rows: shown,
      next: rows > limit && limit > 0 ? limit : null,
    }),
  };
}

describe('rows of the control database', () => {
  test.each([
    ['no row is wanted', 10, 0, []],
    ['there is none', 0, 10, [11]],
    ['one page has all', 10, 10, [11]],
    ['more follow the page', 11, 10, [11]],
    ['they fill a turn', ROWS_A_TURN, 1_000, [ROWS_A_TURN + 1]],
    ['they need several turns', 1_201, 1_200, [501, 501, 201]],
    ['they end with a full turn', 1_000, 10_000, [501, 501]],
    ['the number is not limited', 1_100, Number.POSITIVE_INFINITY, [501, 501, 501]],
  ])('are printed like one list if %s', async (_, rows, limit, expected) => {
    const { asked, body, whole } = await printed(rows, limit);
    expect(body).toBe(whole);
    expect(asked).toEqual(expected);
  });

  test('leave a turn to other work after each page, and only several pages are streamed', async () => {
    expect(await printed(500, 500)).toMatchObject({ turns: 0, isStream: false });
    const { turns, isStream } = await printed(2_000, 2_000);
    expect([turns, isStream]).toEqual([3, true]);
  });

  test('may be the last member of their object', async () => {
    const around = { head: '{"count":1}', tail: '{}' };
    expect(rowsObject('rows', { pages: [Buffer.from('1')] }, around)).toBe('{"count":1,"rows":[1]}');
  });
});
