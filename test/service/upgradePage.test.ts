import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openControlDatabase } from '../../src/controlDatabase.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { KEPT_SECRET_KEY, keptDataDirectory } from '../support/dataDirectories.ts';
import { startCommand } from '../support/runningService.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';
import { wordsOnPage } from '../support/wordsOnPage.ts';

const page = readFileSync(join(PROJECT_ROOT, 'docs/UPGRADING.md'), 'utf8');
const commands = [...page.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
  block.trim().split('\n'),
);

it.skipIf(commandAbsent)('every command of docs/UPGRADING.md does what the page says', async () => {
  const root = temporaryDirectory();
  const dataDir = keptDataDirectory('187b58b');
  const environment = {
    ...{ UNDERROUND_SECRET_KEY: KEPT_SECRET_KEY, UNDERROUND_DISK_RESERVE: '16MiB', ...VENUES_OFF },
  };
  let id = '';
  // A reader of the page has a service that runs.
  let runs = true;
  let upgraded: Awaited<ReturnType<typeof startCommand>> | null = null;
  for (const command of commands) {
    if (command.startsWith('npm install ')) continue;
    if (command.startsWith('systemctl ')) {
      expect(command).toBe(`systemctl ${runs ? 'stop' : 'start'} underround`);
      runs = !runs;
      if (runs) upgraded = await startCommand(['serve', '--data-dir', dataDir], environment);
      continue;
    }
    const words = wordsOnPage(command.replace('--at ID', `--at ${id}`), { root, dataDir });
    expect(words.shift()).toBe('underround');
    if (words[0] === 'serve') {
      const service = await startCommand(words, environment);
      expect(await service.stop()).toBe(0);
      continue;
    }
    const asked = underround([...words, '--json'], environment);
    // A finding of the machine, such as few descriptors, is exit status 1; the answer is the same.
    const text = await asked.catch((error: { stdout: string }) => {
      expect(words[0]).toBe('doctor');
      return error.stdout;
    });
    const answer = JSON.parse(text) as Record<string, unknown>;
    if (words[0] === 'backup') id = String(answer.id);
    if (words[0] === 'migrate') expect(answer.applied).toBe(!words.includes('--dry-run'));
    // It refuses a directory that a service records into.
    if (answer.applied === true) expect(runs).toBe(false);
  }
  expect(await upgraded?.stop()).toBe(0);
});

it.skipIf(commandAbsent)('a newer directory is refused with the one line of the page', async () => {
  const dataDir = temporaryDirectory();
  const database = await openControlDatabase({ dataDir, databaseUrl: null });
  await database.destroy();
  execFileSync('mkdir', ['-p', join(dataDir, 'engine/metadata')]);
  const comment = "ATTACH DATABASE _ UUID 'x'\nENGINE = Atomic\nCOMMENT 'underround store version 14'\n";
  execFileSync('tee', [join(dataDir, 'engine/metadata/underround.sql')], { input: comment });
  const refused = (await underround(['serve', '--data-dir', dataDir], {}).catch((error) => error)) as {
    code: number;
    stderr: string;
  };
  expect(refused.code).toBe(1);
  const line = /^underround: data directory .* was written by .*$/m.exec(page)?.[0] ?? '';
  expect(refused.stderr.trimEnd().split('\n')).toEqual([line.replace('/var/lib/underround', dataDir)]);
});
