import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { codeVersion, fingerprintOf } from './codeVersion.ts';

const CODE = { 'core/walk.ts': 'a', 'core/fills/engine.ts': 'b', 'backtest/report.js': 'c' };

/** The fingerprint of a checkout with these files. */
function fingerprint(files: Readonly<Record<string, string>>): string {
  const root = temporaryDirectory();
  for (const folder of ['core', 'backtest']) mkdirSync(join(root, folder));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  return fingerprintOf([join(root, 'core'), join(root, 'backtest')]);
}

test('a version is the release and the fingerprint of its code', () => {
  expect(codeVersion('1.2.3')).toMatch(/^1\.2\.3-[0-9a-f]{12}$/);
  expect(codeVersion('1.2.4').slice(6)).toBe(codeVersion('1.2.3').slice(6));
});

test('the same code has the same fingerprint, whatever its tests and other files are', () => {
  const beside = { 'core/walk.test.ts': 'd', 'core/fills/README.md': 'e', 'backtest/a.test.js': 'f' };
  expect(fingerprint({ ...beside, ...CODE })).toBe(fingerprint(CODE));
});

test.each<[string, Readonly<Record<string, string>>]>([
  ['a line of the first folder', { ...CODE, 'core/walk.ts': 'A' }],
  ['a line of a folder inside', { ...CODE, 'core/fills/engine.ts': 'B' }],
  ['a line of the last folder', { ...CODE, 'backtest/report.js': 'C' }],
  ['a new file', { ...CODE, 'backtest/stress.ts': '' }],
  ['a name', { 'core/move.ts': 'a', 'core/fills/engine.ts': 'b', 'backtest/report.js': 'c' }],
])('%s changes the fingerprint', (_shows, files) => {
  expect(fingerprint(files)).not.toBe(fingerprint(CODE));
});

test('the folders with the code of results are part of the version', () => {
  const path = (folder: string) => join(import.meta.dirname, '..', folder);
  expect(codeVersion('1')).toBe(`1-${fingerprintOf(['core', 'backtest'].map(path))}`);
});
