import { Command } from 'commander';
import { afterEach, beforeEach, expect, vi } from 'vitest';
import { temporaryDirectory } from './temporaryDirectory.ts';

/**
 * Runs command lines in this process, each test on its own data directory.
 * @param registrations The commands that the tests call, as `main.ts` registers them.
 */
export function commandLine(...registrations: readonly ((program: Command) => void)[]) {
  let dataDir = '';
  let environment: NodeJS.ProcessEnv;
  beforeEach(() => {
    dataDir = temporaryDirectory();
    environment = process.env;
    process.env = { UNDERROUND_DATA_DIR: dataDir };
  });
  afterEach(() => {
    process.env = environment;
    process.exitCode = undefined;
    vi.restoreAllMocks();
  });

  /** Runs one command line like the binary. @returns All lines of both streams, and the exit status. */
  async function runWhole(...words: string[]) {
    const out = vi.spyOn(console, 'log').mockImplementation(() => {});
    const err = vi.spyOn(console, 'error').mockImplementation(() => {});
    process.exitCode = undefined;
    const program = new Command('underround').exitOverride();
    for (const register of registrations) register(program);
    await program.parseAsync(words, { from: 'user' });
    const result = {
      out: out.mock.calls.map(String),
      err: err.mock.calls.map(String),
      exit: process.exitCode,
    };
    vi.restoreAllMocks();
    return result;
  }

  /** The same without the line that names the data directory, which every successful command prints. */
  async function run(...words: string[]) {
    const { err, ...result } = await runWhole(...words);
    return { ...result, err: err.filter((line) => !line.startsWith('underround: data directory /')) };
  }

  /** The same with `--json`; fails if the command is refused. */
  async function json(...words: string[]) {
    const { out, err, exit } = await run(...words, '--json');
    expect({ lines: out.length, err, exit }).toEqual({ lines: 1, err: [], exit: undefined });
    return JSON.parse(out[0] ?? '');
  }

  return { run, runWhole, json, dataDir: () => dataDir };
}
