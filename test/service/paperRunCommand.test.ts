import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commandAbsent } from '../support/builtCommand.ts';
import { eventually, startService, startVenues } from '../support/runningService.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

/** Buys YES at every twentieth book. */
const BUYER = `import { defineStrategy } from '@underround/engine';
export default defineStrategy({
  name: 'buyer',
  params: {},
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], books: true },
  state: () => ({ books: 0 }),
  onEvent(event, context) {
    if (event.type !== 'book' || ++context.state.books % 20 !== 0) return;
    const { marketId } = event;
    context.place({ marketId, token: 'yes', action: 'buy', limitPrice: 0.99, budget: 10 });
  },
});
`;

interface Line {
  readonly kind: string;
  readonly order?: { readonly state: string };
}

/** `underround paper run`; ended by SIGINT like a user's. */
function paperRun(words: readonly string[], environment: Readonly<Record<string, string>>) {
  const command = join(PROJECT_ROOT, 'bin/underround.mjs');
  const env = { PATH: process.env.PATH ?? '', XDG_CACHE_HOME: temporaryDirectory(), ...environment };
  const child = spawn(process.execPath, [command, 'paper', 'run', ...words], { env });
  let log = '';
  child.stderr.on('data', (text) => {
    log += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    ended,
    pid: child.pid,
    /** As `head` does when it has enough. */
    closeOutput: () => void child.stdout.destroy(),
    log: () => log,
    /** Like `eventually`; an end of the command before that is an error with its log. */
    eventually: <T>(what: string, look: (log: string) => T | null | false | undefined) =>
      Promise.race([
        eventually(what, async () => look(log)),
        ended.then((code) => Promise.reject(new Error(`exit ${code} before ${what}: ${log}`))),
      ]),
    stop: () => {
      child.kill('SIGINT');
      return ended;
    },
  };
}

const skipped = commandAbsent ? '(skipped: not built)' : '';
describe.skipIf(commandAbsent)(`underround paper run ${skipped}`, () => {
  test('ends when the reader of its output closes it', async () => {
    const venues = await startVenues({ density: 0.2, tickers: ['BTC'] });
    onTestFinished(() => venues.stop());
    const service = await startService(temporaryDirectory(), venues);
    const file = join(temporaryDirectory(), 'buyer.ts');
    writeFileSync(file, BUYER);
    const run = paperRun([file, '--url', service.url], { UNDERROUND_API_KEY: service.key });
    run.closeOutput();
    expect([await run.ended, run.log()]).toEqual([0, `underround: recording of ${service.url}\n`]);
  });

  test('trades the live stream of a service, and goes on with its output', async () => {
    const venues = await startVenues({ density: 0.2, tickers: ['BTC'] });
    onTestFinished(() => venues.stop());
    const service = await startService(temporaryDirectory(), venues);
    const folder = temporaryDirectory();
    const [file, out] = [join(folder, 'buyer.ts'), join(folder, 'buyer.jsonl')];
    writeFileSync(file, BUYER);
    const start = () =>
      paperRun([file, '--url', service.url, '--out', out], { UNDERROUND_API_KEY: service.key });
    const text = () => (existsSync(out) ? readFileSync(out, 'utf8') : '');
    const lines = () =>
      text()
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Line);
    const first = start();
    await first.eventually('a filled order', () => lines().find(({ order }) => order?.state === 'filled'));
    const other = start();
    expect(await other.ended).toBe(1);
    expect(other.log()).toMatch(
      new RegExp(`process ${first.pid} trades on paper into ${out}; wait for its end, or continue it`),
    );
    expect(await first.stop()).toBe(0);
    expect(existsSync(`${out}.running`)).toBe(false);
    expect(lines().map(({ kind }) => kind)).toEqual(expect.arrayContaining(['run', 'market', 'order']));
    const before = text();

    const second = start();
    await second.eventually('that it goes on', (log) => log.includes('going on with the run of'));
    await second.eventually('a further line', () => text().length > before.length);
    expect(await second.stop()).toBe(0);
    expect(text().startsWith(before)).toBe(true);
  });

  test.each([
    [
      '/nowhere/run.jsonl',
      '--out /nowhere/run.jsonl: its folder cannot be written to: there is no such file',
    ],
    ['/dev/full', 'underround: its disk is full'],
  ])('refuses the output %s with one line', async (out, line) => {
    const file = join(temporaryDirectory(), 'buyer.ts');
    writeFileSync(file, BUYER);
    const run = paperRun([file, '--url', 'http://127.0.0.1:1', '--out', out], { UNDERROUND_API_KEY: 'any' });
    expect(await run.ended).toBe(1);
    expect(run.log()).toContain(line);
  });
});
