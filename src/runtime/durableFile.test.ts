import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { replaceFile } from './durableFile.ts';

test('a file that cannot be replaced leaves no draft', async () => {
  const directory = temporaryDirectory(onTestFinished);
  // A directory with a file in it has the name: the draft is written, and cannot take its place.
  const path = join(directory, 'settings');
  mkdirSync(path);
  writeFileSync(join(path, 'kept'), '');
  await expect(replaceFile(path, 'new')).rejects.toThrow();
  expect(readdirSync(directory)).toEqual(['settings']);
});
