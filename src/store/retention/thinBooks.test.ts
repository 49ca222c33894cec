import { expect, test } from 'vitest';
import { thinBooks } from './thinBooks.ts';

/** An engine whose day has this many rows; it keeps the statements that change something. */
function engineWith(rowsOfDay: () => number) {
  const statements: string[] = [];
  const command = async (statement: string) => void statements.push(statement);
  const rows = async () => [{ count: rowsOfDay() }] as never;
  return { statements, command, commandOnce: command, rows };
}

const firstWords = (statement: string | undefined) => statement?.split(' ').slice(0, 2).join(' ');

test.each([
  ['as it is where rows were stored while it was copied', 3, false],
  ['thinned where no row was stored meanwhile', 2, true],
])('a day is %s', async (_, rowsAfterFirstCopy, isThinned) => {
  const engine = engineWith(() => (engine.statements.length > 3 ? rowsAfterFirstCopy : 2));
  expect(await thinBooks(engine, '2026-10-01', { rows: 2 })).toBe(isThinned);
  expect(engine.statements.some((statement) => statement.includes('REPLACE'))).toBe(isThinned);
  expect(firstWords(engine.statements.at(-1))).toBe('DROP DATABASE');
});

test('a stop ends between two copies, and leaves the day as it is', async () => {
  const stop = new AbortController();
  const engine = engineWith(() => 2);
  const copyOnce = async (statement: string) => {
    await engine.command(statement);
    stop.abort();
  };
  const options = { rows: 2, signal: stop.signal };
  const thinning = thinBooks({ ...engine, commandOnce: copyOnce }, '2026-10-01', options);
  await expect(thinning).rejects.toMatchObject({ name: 'AbortError' });
  expect(engine.statements.filter((statement) => statement.startsWith('INSERT')).length).toBe(1);
});
