import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { engineLinks } from './engineLinks.ts';

test('the engine’s symbolic links are listed and not followed', async () => {
  const dataDir = temporaryDirectory();
  const table = join(dataDir, 'engine/store/abc/quotes');
  mkdirSync(join(table, 'tmp_insert_1'), { recursive: true });
  mkdirSync(join(dataDir, 'engine/data/underround'), { recursive: true });
  mkdirSync(join(dataDir, 'engine/metadata'));
  writeFileSync(join(dataDir, 'engine/metadata/underround.sql'), '');
  symlinkSync('../../store/abc/quotes', join(dataDir, 'engine/data/underround/quotes'));
  symlinkSync('../store/abc', join(dataDir, 'engine/metadata/underround'));
  // A reader that went through the first link would find this one too.
  symlinkSync('nowhere', join(table, 'tmp_insert_1/part'));
  expect(await engineLinks(dataDir)).toEqual([
    { path: 'engine/metadata/underround', target: '../store/abc' },
    { path: 'engine/data/underround/quotes', target: '../../store/abc/quotes' },
  ]);
});

test('a data directory without an engine has no links', async () => {
  expect(await engineLinks(temporaryDirectory())).toEqual([]);
});
