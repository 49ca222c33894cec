import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';

describe.skipIf(commandAbsent)('the built command', () => {
  test('tells the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'));
    expect(await underround(['--version'], {})).toBe(`${version}\n`);
  });

  test('refuses a command it does not have, in one line', async () => {
    const refused = await underround(['nonsense'], {}).catch((error) => error);
    expect([refused.code, refused.stderr]).toEqual([1, "error: unknown command 'nonsense'\n"]);
  });
});
