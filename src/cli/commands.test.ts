import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { commandLine } from '../../test/support/commandLine.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { VENUES_OFF } from '../../test/support/venuesOff.ts';
import { registerCommands } from './commands.ts';

const { runWhole } = commandLine(registerCommands);

/**
 * Commands that run until they are stopped; `settings.test.ts`, `sharedStore.test.ts` and `mcp.test.ts` of
 * `test/service` test them.
 */
const LONG_RUNNING = ['demo', 'serve', 'store', 'mcp', 'paper run'];
/** Commands of files or of a service alone. */
const WITHOUT_DIRECTORY = ['compare', 'mcp', 'paper run'];
const EMAIL = ['--email', 'a@example.com'];
const HOOK = [...EMAIL, '--url', 'https://93.184.215.14/in'];

/** Every other command with valid arguments, and whether it creates a missing data directory. */
const COMMANDS: readonly (readonly [string, { words?: readonly string[]; makes?: boolean }])[] = [
  ['import', { words: ['recording.jsonl'], makes: true }],
  ['export', { words: ['perp_depth', '--ticker', 'BTC'] }],
  ['replay', { words: ['--ticker', 'BTC'] }],
  ['backtest', { words: ['spec.json'] }],
  ['sweep', { words: ['sweep.json'] }],
  ['keys create', { words: EMAIL, makes: true }],
  ['keys list', {}],
  ['keys revoke', { words: ['key_1'] }],
  ['users create', { words: EMAIL, makes: true }],
  ['users set-tier', { words: [...EMAIL, '--tier', 'pro'] }],
  ['users suspend', { words: EMAIL }],
  ['users unsuspend', { words: EMAIL }],
  ['users set-password', { words: EMAIL }],
  ['users set-operator', { words: ['a@example.com'] }],
  ['users reset-totp', { words: ['a@example.com'] }],
  ['users list', {}],
  ['webhooks create', { words: HOOK }],
  ['webhooks list', {}],
  ['webhooks update', { words: ['wh_1', '--label', 'x'] }],
  ['webhooks resume', { words: ['wh_1'] }],
  ['webhooks pause', { words: ['wh_1'] }],
  ['webhooks delete', { words: ['wh_1'] }],
  ['webhooks rotate', { words: ['wh_1'] }],
  ['webhooks test', { words: ['wh_1'] }],
  ['maintenance on', {}],
  ['maintenance off', {}],
  ['maintenance status', {}],
  ['audit verify', {}],
  ['audit head', {}],
  ['doctor', {}],
  ['migrate', {}],
  ['backup', { words: ['backups'] }],
  ['restore', { words: ['backups'], makes: true }],
  ['verify', { words: ['s3://backups'], makes: true }],
];

const READERS = [
  'keys list',
  'users list',
  'webhooks list',
  'maintenance status',
  'audit verify',
  'audit head',
  'doctor',
];

/** Runs a command of the table; the files it names exist in the test's working directory. */
function runCommand(name: string, words: readonly string[], ...more: string[]) {
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'recording.jsonl'), '');
  const strategy = { type: 'threshold_entry', threshold: 0.4, direction: 'below', side: 'buy_yes' };
  const spec = { strategy, universe: { ticker: 'BTC', event_type: '5m' } };
  writeFileSync(join(directory, 'spec.json'), JSON.stringify(spec));
  const x_axis = { param: 'threshold', start: 0.3, end: 0.6, steps: 2 };
  writeFileSync(join(directory, 'sweep.json'), JSON.stringify({ ...spec, x_axis }));
  const given = words.map((word) => (/\.jsonl?$/.test(word) ? join(directory, word) : word));
  return runWhole(...name.split(' '), ...given, ...more);
}

function leaves(command: Command, path: readonly string[] = []): { name: string; command: Command }[] {
  if (command.commands.length === 0) return [{ name: path.join(' '), command }];
  return command.commands.flatMap((child) => leaves(child, [...path, child.name()]));
}

const program = new Command('underround');
registerCommands(program);

it('the table above lists every command', () => {
  const names = [...new Set([...COMMANDS.map(([name]) => name), ...LONG_RUNNING, ...WITHOUT_DIRECTORY])];
  expect(names.sort()).toEqual(
    leaves(program)
      .map(({ name }) => name)
      .sort(),
  );
});

const withDirectory = leaves(program).filter(({ name }) => !WITHOUT_DIRECTORY.includes(name));
it.each(withDirectory)('$name accepts --data-dir', ({ command }) => {
  expect(command.options.map(({ long }) => long)).toContain('--data-dir');
});

describe.each(COMMANDS)('%s', (name, { words = [] }) => {
  it('reports every invalid variable, warns of unknown ones, and creates no files', async () => {
    const parent = temporaryDirectory();
    const tiers = join(parent, 'tiers.json');
    process.env = {
      UNDERROUND_DATA_DIR: join(parent, 'data'),
      UNDERROUND_PORT: 'banana',
      UNDERROUND_TIERS_FILE: tiers,
      UNDERROUND_SECRET_KEY: 'short',
      UNDERROUND_PROT: '1',
    };
    const { out, err, exit } = await runCommand(name, words);
    expect([out, exit]).toEqual([[], 1]);
    expect(err).toEqual([
      'underround: warning: UNDERROUND_PROT is not a known variable and has no effect; did you mean UNDERROUND_PORT?',
      'underround: UNDERROUND_PORT="banana" must be a port number, 0 to 65535; correct it, or unset it for 8080',
      `underround: UNDERROUND_TIERS_FILE="${tiers}" cannot be read as JSON: ENOENT: no such file or directory, open '${tiers}' (docs/CONFIGURATION.md has the tier table); correct it, or unset it`,
      'underround: UNDERROUND_SECRET_KEY (value not shown) must be 32 bytes in base64 or hexadecimal, such as `openssl rand -base64 32` prints; correct it, or unset it',
    ]);
    expect(readdirSync(parent)).toEqual([]);
  });

  it('refuses a file as data directory', async () => {
    const dataDir = join(temporaryDirectory(), 'file');
    writeFileSync(dataDir, '');
    expect(await runCommand(name, words, '--data-dir', dataDir)).toEqual({
      out: [],
      err: [
        `underround: data directory ${dataDir} cannot be used: it is a file; name another with --data-dir or UNDERROUND_DATA_DIR`,
      ],
      exit: 1,
    });
  });

  it('refuses an empty --data-dir', async () => {
    const line = 'underround: --data-dir "" must name a directory; name one, or leave the option out';
    expect(await runCommand(name, words, '--data-dir', '')).toEqual({ out: [], err: [line], exit: 1 });
  });
});

it.each(COMMANDS.filter(([, { makes }]) => !makes))(
  '%s reports a missing data directory and creates none',
  async (name, { words = [] }) => {
    const dataDir = join(temporaryDirectory(), 'missing');
    const line = `underround: there is no data directory ${dataDir}; name the directory of a service with --data-dir or UNDERROUND_DATA_DIR`;
    expect(await runCommand(name, words, '--data-dir', dataDir)).toEqual({ out: [], err: [line], exit: 1 });
    expect(existsSync(dataDir)).toBe(false);
  },
);

describe.skipIf(!existsSync('/proc/self'))('below /proc', () => {
  it.each(COMMANDS.filter(([, { makes }]) => makes))(
    '%s reports a data directory that cannot be created',
    async (name, { words = [] }) => {
      expect(await runCommand(name, words, '--data-dir', '/proc/nope/data')).toEqual({
        out: [],
        err: [
          'underround: data directory /proc/nope/data cannot be made in /proc: ENOENT: no such file or directory; name another with --data-dir or UNDERROUND_DATA_DIR',
        ],
        exit: 1,
      });
    },
  );
});

it.each(READERS)('%s reads an empty data directory, prints its path, and writes nothing', async (name) => {
  const dataDir = temporaryDirectory();
  Object.assign(process.env, VENUES_OFF, { UNDERROUND_PORT: '0', UNDERROUND_DISK_RESERVE: '1MiB' });
  const { err, out, exit } = await runCommand(name, [], '--data-dir', dataDir);
  expect(err).toEqual([`underround: data directory ${dataDir}`]);
  // Doctor prints a report and its checks.
  expect([out.length, exit]).toEqual([name === 'doctor' ? 2 : 1, undefined]);
  expect(readdirSync(dataDir)).toEqual([]);
});

describe.skipIf(process.getuid?.() !== 0)("another user's data directory (skipped: needs root)", () => {
  it.each(COMMANDS)('is refused by %s', async (name, { words = [] }) => {
    const dataDir = temporaryDirectory();
    chownSync(dataDir, 12_345, 12_345);
    const { err, exit } = await runCommand(name, words, '--data-dir', dataDir);
    expect([err, exit]).toEqual([
      [
        `underround: data directory ${dataDir} belongs to user 12345 and this process runs as user 0: run it as that user; name another with --data-dir or UNDERROUND_DATA_DIR`,
      ],
      1,
    ]);
    expect(readdirSync(dataDir)).toEqual([]);
  });
});

it.each(['export', 'backtest'])(
  '%s refuses a directory without a recording and writes nothing',
  async (name) => {
    const dataDir = temporaryDirectory();
    mkdirSync(join(dataDir, 'photographs'));
    const words = COMMANDS.find(([known]) => known === name)?.[1].words ?? [];
    const { err, exit } = await runCommand(name, words, '--data-dir', dataDir);
    expect([err, exit]).toEqual([
      [
        `underround: data directory ${dataDir} has no recording; name the directory of a service with --data-dir or UNDERROUND_DATA_DIR`,
      ],
      1,
    ]);
    expect(readdirSync(dataDir)).toEqual(['photographs']);
  },
);

it.each([
  [['audit', 'verify', '--head', 'nonsense'], '--head "nonsense" must be 64 hexadecimal digits'],
  [['audit', 'verify', '--head', ''], '--head "" must be 64 hexadecimal digits'],
])('%j is refused', async (words, line) => {
  const dataDir = temporaryDirectory();
  const { out, err, exit } = await runWhole(...words, '--data-dir', dataDir);
  expect({ out, err, exit }).toEqual({ out: [], err: [`underround: ${line}`], exit: 1 });
});

it.each([
  ['/nonexistent/out.jsonl', '--out: there is no directory /nonexistent'],
  ['', '--out "" must name a file'],
])('export --out %j is refused before the recording is opened', async (out, line) => {
  const words = ['export', 'perp_depth', '--ticker', 'BTC', '--out', out, '--data-dir', temporaryDirectory()];
  expect(await runWhole(...words)).toEqual({ out: [], err: [`underround: ${line}`], exit: 1 });
});
