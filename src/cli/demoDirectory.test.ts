import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { DEMO_MARKER } from '../runtime/demoMarker.ts';
import { ConfigError } from '../runtime/errors.ts';
import { freshDirectory } from './demoDirectory.ts';

const makes = { makeDataDirectory: (directory: string) => void mkdirSync(directory, { recursive: true }) };

/** A directory with a file and a folder. */
function filledDirectory(): string {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'accounts.sqlite'), 'rows');
  mkdirSync(join(directory, 'journal'));
  writeFileSync(join(directory, 'journal', 'segment'), 'rows');
  return directory;
}

test('a directory that no demo made is refused, and nothing in it is removed', async () => {
  const directory = filledDirectory();
  const line = `${directory} is not a demo's directory; set UNDERROUND_DATA_DIR to another, or name one with --data-dir`;
  await expect(freshDirectory(directory, makes)).rejects.toThrow(new ConfigError(line));
  expect(readdirSync(directory).sort()).toEqual(['accounts.sqlite', 'journal']);
  expect(readdirSync(join(directory, 'journal'))).toEqual(['segment']);
});

test.each(['new', 'empty'])('a %s directory becomes one of a demo', async (kind) => {
  const directory = kind === 'new' ? join(temporaryDirectory(), 'new') : temporaryDirectory();
  await freshDirectory(directory, makes);
  expect(readdirSync(directory)).toEqual([DEMO_MARKER]);
});

test('the directory of an earlier demo is emptied, and stays a demo’s', async () => {
  const directory = filledDirectory();
  writeFileSync(join(directory, DEMO_MARKER), '');
  await freshDirectory(directory, makes);
  expect(readdirSync(directory)).toEqual([DEMO_MARKER]);
});

test('a demo that ends while it empties its directory leaves one that the next demo may empty', async () => {
  const directory = filledDirectory();
  writeFileSync(join(directory, DEMO_MARKER), '');
  const full = new Error('the disk is full');
  const fails = {
    makeDataDirectory: () => {
      throw full;
    },
  };
  await expect(freshDirectory(directory, fails)).rejects.toBe(full);
  expect(existsSync(join(directory, DEMO_MARKER))).toBe(true);
  await freshDirectory(directory, makes);
  expect(readdirSync(directory)).toEqual([DEMO_MARKER]);
});
