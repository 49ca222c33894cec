import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
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

  test.skipIf(!existsSync('/dev/full'))('fails when its result cannot be written', async () => {
    const full = openSync('/dev/full', 'w');
    const environment = { PATH: process.env.PATH ?? '', UNDERROUND_DATA_DIR: temporaryDirectory() };
    const words = [join(PROJECT_ROOT, 'bin/underround.mjs'), 'users', 'create', '--email', 'a@example.com'];
    const child = spawn(process.execPath, words, { env: environment, stdio: ['ignore', full, 'pipe'] });
    closeSync(full);
    const [lines, [code]] = await Promise.all([text(child.stderr as Readable), once(child, 'exit')]);
    expect([code, lines.split('\n').at(-2)]).toEqual([
      1,
      'underround: standard output cannot be written: its disk is full',
    ]);
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
