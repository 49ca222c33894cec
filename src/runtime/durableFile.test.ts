import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import * as durableFile from './durableFile.ts';
import { replaceFile } from './durableFile.ts';
import { makeDurableDirectories } from './makeDirectories.ts';

vi.mock('./durableFile.ts', { spy: true });

test('a file that cannot be replaced leaves no draft', async () => {
  const directory = temporaryDirectory(onTestFinished);
  // A directory with a file in it has the name: the draft is written, and cannot take its place.
  const path = join(directory, 'settings');
  mkdirSync(path);
  writeFileSync(join(path, 'kept'), '');
  await expect(replaceFile(path, 'new')).rejects.toThrow();
  expect(readdirSync(directory)).toEqual(['settings']);
});

test('syncs the directory above each one that it makes, and none above those that exist', () => {
  const directory = temporaryDirectory(onTestFinished);
  for (let time = 0; time < 2; time++) makeDurableDirectories(join(directory, 'a', 'b'));
  expect(vi.mocked(durableFile.syncDirectoryNow).mock.calls).toEqual([[directory], [join(directory, 'a')]]);
});

test('makes a directory below one that may be written and not be read', () => {
  const directory = temporaryDirectory(onTestFinished);
  const refuse = (code: string) => {
    vi.mocked(durableFile.syncDirectoryNow).mockImplementationOnce(() => {
      throw Object.assign(new Error(code), { code });
    });
  };
  refuse('EACCES');
  makeDurableDirectories(join(directory, 'a'));
  expect(readdirSync(directory)).toEqual(['a']);
  refuse('EIO');
  expect(() => makeDurableDirectories(join(directory, 'b'))).toThrow('EIO');
});
