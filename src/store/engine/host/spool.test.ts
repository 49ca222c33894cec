import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporaryDirectory.ts';
import { Spool } from './spool.ts';

const PLANTED = 'planted.bin';

/** Two directories for bodies; a test may put something in the place of the first. */
function places() {
  const directory = temporaryDirectory();
  const [first, second, aside] = ['first', 'second', 'aside'].map((name) => join(directory, name));
  return { first: first as string, second: second as string, aside: aside as string };
}

async function used(dirs: readonly string[]) {
  const refused: unknown[] = [];
  const log = { warn: (line: object) => void refused.push((line as { dir: string }).dir) };
  const spool = await Spool.open(dirs, { log: log as never });
  const dir = await spool.with([Buffer.from('body')], async (path) => {
    expect(statSync(path).mode & 0o777).toBe(0o600);
    return dirname(path);
  });
  return { spool, dir, refused };
}

test('is emptied of files of a dead host, and removed with its host', async () => {
  const { first, second } = places();
  mkdirSync(first, { mode: 0o700 });
  writeFileSync(join(first, PLANTED), '');
  const { spool, dir, refused } = await used([first, second]);
  expect([dir, refused, readdirSync(first)]).toEqual([first, [], []]);
  expect([first, second].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o700]);
  await spool.close();
  expect(() => statSync(first)).toThrow('ENOENT');
});

test.each([
  ['a directory that everybody may write to', (first: string) => void mkdirSync(first)],
  ['a link to a directory', (first: string, aside: string) => symlinkSync(aside, first)],
])('%s in its place stays unchanged and is not used', async (_, plant) => {
  const { first, second, aside } = places();
  mkdirSync(aside, { mode: 0o700 });
  plant(first, aside);
  writeFileSync(join(first, PLANTED), '');
  chmodSync(first, 0o777);
  const { spool, dir, refused } = await used([first, second]);
  expect([dir, refused, readdirSync(first)]).toEqual([second, [first], [PLANTED]]);
  await spool.close();
  expect(readdirSync(first)).toEqual([PLANTED]);
});

test('no usable directory is an error', async () => {
  const { first } = places();
  writeFileSync(first, '');
  await expect(used([first])).rejects.toThrow(`${first} is not used: it is no directory; remove it`);
});
