import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CommanderError } from 'commander';
import { expect, it, vi } from 'vitest';
import { commandLine } from '../../test/support/commandLine.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { registerCommands } from './commands.ts';

const { runWhole } = commandLine(registerCommands);

it.each([
  [['nonsense'], "unknown command 'nonsense'; `underround --help` shows the usage"],
  [['sreve'], "unknown command 'sreve' (Did you mean serve?); `underround --help` shows the usage"],
  [['serve', '--nonsense'], "unknown option '--nonsense'; `underround serve --help` shows the usage"],
  [['keys', 'revoke'], "missing required argument 'key_id'; `underround keys revoke --help` shows the usage"],
  [
    ['keys', 'create'],
    "required option '--email <email>' not specified; `underround keys create --help` shows the usage",
  ],
])('%j is refused in one line that names the help', async (words, line) => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  await expect(runWhole(...words)).rejects.toThrow(CommanderError);
  expect(written.mock.calls.map(([text]) => text)).toEqual([`underround: ${line}\n`]);
});

const URL_AND_KEY = { UNDERROUND_URL: 'http://127.0.0.1:1', UNDERROUND_API_KEY: 'k' };

it.each([
  [['backtest', 'none.json'], 'none.json: there is no such file or directory'],
  [['sweep', 'none.json'], 'none.json: there is no such file or directory'],
  [['backtest', 'folder'], 'folder: it is a directory, not a file'],
  [['backtest', 'none.ts'], 'none.ts: there is no such file or directory'],
  [['sweep', 'none.mjs', '--param', 'a=1:2:3'], 'none.mjs: there is no such file or directory'],
  [['paper', 'run', 'none.ts'], 'none.ts: there is no such file or directory'],
  [['compare', 'file', 'file'], 'file is not a report: '],
  [['verify', 'none.csv'], 'none.csv: there is no such file or directory'],
  [['import', 'none.jsonl'], 'cannot read none.jsonl: there is no such file or directory'],
])('%j names the file and the reason', async (words, line) => {
  const folder = temporaryDirectory();
  mkdirSync(join(folder, 'folder'));
  writeFileSync(join(folder, 'file'), 'no JSON');
  Object.assign(process.env, URL_AND_KEY);
  const inFolder = (word: string) => (/^(?:none\.|folder$|file$)/.test(word) ? join(folder, word) : word);
  const { err, exit } = await runWhole(...words.map(inFolder));
  expect(exit).toBe(1);
  expect(err.at(-1)?.replaceAll(`${folder}/`, '')).toContain(`underround: ${line}`);
  expect(err.join('')).not.toMatch(/ENOENT|EISDIR|node:|\.js:/);
});

it.each([
  ['backtest', '--start', '2026-11-28T15:00Z', '--start is for strategy files; set `start` in the file'],
  [
    'backtest',
    '--event-type',
    '15m',
    '--event-type is for strategy files; set `universe.event_type` in the file',
  ],
  [
    'backtest',
    '--latency-curve',
    '0,100',
    '--latency-curve is for strategy files; it does not apply to JSON files',
  ],
  ['sweep', '--url', 'http://127.0.0.1:1', '--url is for strategy files; it does not apply to JSON files'],
])('%s of a JSON file refuses %s', async (command, option, value, line) => {
  const { err, exit } = await runWhole(command, 'job.json', option, value);
  expect({ err, exit }).toEqual({ err: [`underround: job.json: ${line}`], exit: 1 });
});
