import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { eventually, isRunning, startCommand } from '../support/runningService.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';

describe.skipIf(commandAbsent)('the built command', () => {
  test('prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'));
    expect(await underround(['--version'], {})).toBe(`${version}\n`);
  });

  test('rejects an unknown command in one line', async () => {
    const refused = await underround(['nonsense'], {}).catch((error) => error);
    const line = "underround: unknown command 'nonsense'; `underround --help` shows the usage\n";
    expect([refused.code, refused.stderr]).toEqual([1, line]);
  });

  test.skipIf(process.platform !== 'linux')(
    'ends together with its engine when a test stops it',
    async () => {
      const endings: (() => Promise<void>)[] = [];
      const environment = { UNDERROUND_DATA_DIR: temporaryDirectory(), ...VENUES_OFF };
      const { child } = await startCommand(['serve'], environment, (end) => void endings.push(end));
      const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
      const engines = children.trim().split(' ').map(Number);
      expect(engines).toHaveLength(1);
      for (const end of endings) await end();
      await eventually('the end of its engine', async () => !isRunning(engines[0] as number));
    },
  );
});
