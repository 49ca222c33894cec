import { existsSync, readdirSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commandLine } from '../../test/support/commandLine.ts';
import { registerImport } from './import.ts';

const { run, json, dataDir } = commandLine(registerImport);

it('refuses the set-aside frames of a directory that does not exist, and does not make it', async () => {
  rmSync(dataDir(), { recursive: true });
  expect(await run('import', '--quarantine')).toEqual({
    ...{ out: [], exit: 1 },
    err: [
      `underround: there is no data directory ${dataDir()}; name the directory of a service with --data-dir or UNDERROUND_DATA_DIR`,
    ],
  });
  expect(existsSync(dataDir())).toBe(false);
});

it('opens no store where no frame was set aside', async () => {
  const { out } = await run('import', '--quarantine');
  expect(out[0]).toBe('0 set-aside frames: 0 accepted, 0 kept');
  const recorded = { books: 0, quotes: 0, trades: 0, underlying: 0, perp_depth: 0, gaps: 0 };
  expect(await json('import', '--quarantine')).toEqual({ frames: 0, accepted: 0, kept: 0, recorded });
  expect(readdirSync(dataDir())).toEqual([]);
});
