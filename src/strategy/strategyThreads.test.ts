import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { commandAbsent } from '../../test/support/builtCommand.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { randomTape } from '../../test/support/tapes.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import type { RunTerms } from '../core/run/terms.ts';
import { systemClock } from '../runtime/clock.ts';
import { StrategyThreads } from './strategyThreads.ts';

const TERMS: RunTerms = {
  ...{ seed: 1, orderLatency: { kind: 'constant', ms: 50 }, queueModel: 'proportional', cashUsd: null },
  ...{ exposure: { perMarketUsd: null, perTickerUsd: null, totalUsd: null }, redemptionDelayMs: 0 },
};
const SETTING = { params: {}, terms: TERMS };
const HEAD = `import { defineStrategy } from '@underround/engine';\n`;
const INPUTS = `inputs: { tickers: ['BTC'], eventTypes: ['5m'] }`;

function strategy(files: Readonly<Record<string, string>>): string {
  const folder = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return join(folder, Object.keys(files)[0] as string);
}

const opened: StrategyThreads[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((threads) => threads.close()));
});

function start(entry: string, options: Partial<ConstructorParameters<typeof StrategyThreads>[0]> = {}) {
  const threads = new StrategyThreads({
    entry,
    threads: 1,
    clock: systemClock,
    eventLimitMs: 60_000,
    ...options,
  });
  opened.push(threads);
  return threads;
}

const tape = randomTape('threads', { books: 50, levels: 3, gaps: false });
const SEGMENT = {
  markets: [{ tape: { ...tape, prices: null }, resolution: null }],
  ...{ tickers: [], beforeMs: tape.market.endTimeMs + 60_000 },
};

async function logsOf(entry: string, runs = 1, options = {}) {
  const threads = start(entry, options);
  await threads.begin(Array.from({ length: runs }, () => SETTING));
  await threads.process(SEGMENT);
  const { results, ...rest } = await threads.finish();
  return { ...rest, logs: results.map(({ result }) => result.log.map(({ text }) => text)) };
}

const skipped = commandAbsent ? '(skipped: not built)' : '';
describe.skipIf(commandAbsent)(`a strategy file in a thread ${skipped}`, () => {
  test('is read with its types and local imports, in any folder', async () => {
    const entry = strategy({
      'mine.ts': `${HEAD}import { size } from './lib/sizes.ts';
        interface Memory { seen: number }
        export default defineStrategy({ name: 'mine', params: { size: { default: size(2) } }, ${INPUTS},
          state: (): Memory => ({ seen: 0 }), onEvent() {} });`,
      'lib/sizes.ts': 'export const size = (of: number): number => of * 2;',
    });
    const { facts } = await start(entry).describe();
    expect(facts).toEqual({
      ...{ name: 'mine', params: { size: { default: 4 } } },
      inputs: { tickers: ['BTC'], eventTypes: ['5m'] },
    });
  });

  test('runs on the series that the command names, in place of those of its inputs', async () => {
    const entry = strategy({
      'mine.js': `${HEAD}export default defineStrategy({
        name: 'mine', params: {}, inputs: { tickers: ['ETH'], eventTypes: ['1h'] },
        onEvent(event, context) { if (event.type === 'market') context.log(context.market(event.marketId).ticker); },
      });`,
    });
    const threads = start(entry);
    await threads.begin([SETTING], { tickers: ['BTC'], eventTypes: ['5m'] });
    await threads.process(SEGMENT);
    const { results } = await threads.finish();
    expect(results[0]?.result.log[0]?.text).toBe('BTC');
    expect(results[0]?.result.markets).toHaveLength(1);
  });

  test('uses this engine even where its folder has another', async () => {
    const entry = strategy({
      'mine.js': `${HEAD}export default defineStrategy({ name: 'mine', params: {}, ${INPUTS}, onEvent() {} });`,
      'node_modules/@underround/engine/package.json': '{"main":"index.js"}',
      'node_modules/@underround/engine/index.js': 'throw new Error("the other engine")',
    });
    expect((await start(entry).describe()).facts.name).toBe('mine');
  });

  test.each([
    ['a syntax error', { 'mine.ts': `${HEAD}\nconst a = = 2;` }, /mine\.ts:3: .*Expression expected/],
    [
      'syntax that has to be compiled',
      { 'mine.ts': `${HEAD}enum Side { Buy }` },
      /mine\.ts:2: .*enum is not supported/,
    ],
    ['a throw while loading', { 'mine.ts': `${HEAD}throw new Error('no');` }, /mine\.ts:2: no$/],
    [
      'an error in an imported file',
      { 'mine.ts': `import './lib.ts';`, 'lib.ts': '\n\nnull.x;' },
      /lib\.ts:3: TypeError: Cannot read/,
    ],
    ['a missing import', { 'mine.ts': `import './lib.ts';` }, /mine\.ts: .*Cannot find module .*lib\.ts/],
    ['no default export', { 'mine.ts': 'export const a = 1;' }, /must `export default defineStrategy/],
  ])('fails with its place: %s', async (_what, files, message) => {
    const error = await start(strategy(files as Record<string, string>))
      .describe()
      .catch((failure: Error) => failure);
    expect((error as Error).message).toMatch(message);
    expect((error as Error).message).not.toMatch(/worker|underround-run|node:internal/);
  });

  test('an error of onEvent has file, line and message', async () => {
    const entry = strategy({
      'mine.ts': `${HEAD}export default defineStrategy({ name: 'mine', params: {}, ${INPUTS},
        onEvent(event) {
          if (event.type === 'book') throw new Error('what now');
        } });`,
    });
    await expect(logsOf(entry)).rejects.toThrow(/mine\.ts:4: what now$/);
  });

  test('an async onEvent is refused', async () => {
    const entry = strategy({
      'mine.ts': `${HEAD}export default defineStrategy({ name: 'mine', params: {}, ${INPUTS}, async onEvent() {} });`,
    });
    await expect(logsOf(entry)).rejects.toThrow(/must not be async/);
  });

  test('module variables do not leak between runs, in one thread or in several', async () => {
    const entry = strategy({
      'mine.ts': `${HEAD}import { next } from './count.ts';
        let own = 0;
        export default defineStrategy({ name: 'mine', params: {}, ${INPUTS},
          onEvent(event, context) { context.log(event.type + ' ' + ++own + ' ' + next()); } });`,
      'count.ts': 'let count = 0;\nexport const next = () => ++count;',
    });
    const alone = await logsOf(entry);
    expect(alone.logs[0]?.slice(0, 2)).toEqual(['market 1 1', 'book 2 2']);
    const three = await logsOf(entry, 3, { threads: 2 });
    expect(three.logs).toEqual([alone.logs[0], alone.logs[0], alone.logs[0]]);
    expect(three.codeHash).toBe(alone.codeHash);
  });

  test('the code hash covers the file and its local imports', async () => {
    const hashOf = async (own: string, lib: string) => {
      const text = `${HEAD}import './lib.ts';\nexport default defineStrategy({ name: '${own}', params: {}, ${INPUTS}, onEvent() {} });`;
      return (await start(strategy({ 'mine.ts': text, 'lib.ts': lib })).describe()).codeHash;
    };
    const first = await hashOf('a', 'export {};');
    expect(await hashOf('a', 'export {};')).toBe(first);
    expect(await hashOf('b', 'export {};')).not.toBe(first);
    expect(await hashOf('a', 'export {}; ')).not.toBe(first);
  });

  test('the code hash leaves packages out', async () => {
    const text = `${HEAD}import 'odds';\nexport default defineStrategy({ name: 'mine', params: {}, ${INPUTS}, onEvent() {} });`;
    const hashOf = async (code: string) => {
      const odds = { 'package.json': '{"type":"module","main":"index.js"}', 'index.js': code };
      const files = Object.entries(odds).map(([name, body]) => [`node_modules/odds/${name}`, body]);
      return (await start(strategy({ 'mine.ts': text, ...Object.fromEntries(files) })).describe()).codeHash;
    };
    expect(await hashOf('export {};')).toBe(await hashOf('export const odds = 1;'));
  });

  test('clocks, randomness, timers, files and the network are counted, and still work', async () => {
    const entry = strategy({
      'mine.ts': `${HEAD}import { readFileSync } from 'node:fs';
        import { randomUUID } from 'node:crypto';
        let once = true;
        export default defineStrategy({ name: 'mine', params: {}, ${INPUTS},
          onEvent(event, context) {
            if (!once) return;
            once = false;
            const now = new Date();
            new Date(event.timeMs);
            if (Math.abs(Date.now() - now.getTime()) > 60_000) throw new Error('another clock');
            Math.random(); Math.random(); performance.now(); process.hrtime.bigint(); randomUUID();
            crypto.getRandomValues(new Uint8Array(1));
            clearTimeout(setTimeout(() => undefined, 1));
            context.log(String(typeof readFileSync + (now instanceof Date)));
          } });`,
    });
    const { uses, logs } = await logsOf(entry);
    expect(logs).toEqual([['functiontrue']]);
    expect(Object.fromEntries(uses.map(({ name, count }) => [name, count]))).toEqual({
      ...{ Date: 1, 'Date.now': 1, 'Math.random': 2, 'performance.now': 1, 'process.hrtime.bigint': 1 },
      ...{ 'crypto.getRandomValues': 1, 'crypto.randomUUID': 1, setTimeout: 1, 'node:fs': 1 },
    });
  });

  test('a strategy that uses none of them has no uses', async () => {
    const entry = strategy({
      'mine.ts': `${HEAD}export default defineStrategy({ name: 'mine', params: {}, ${INPUTS},
        onEvent(event, context) { context.log(new Date(event.timeMs).toISOString() + context.random()); } });`,
    });
    const { uses, logs } = await logsOf(entry);
    expect(uses).toEqual([]);
    expect(logs).toEqual((await logsOf(entry)).logs);
  });

  test('an endless loop is named with its event, and its thread ends', async () => {
    const entry = strategy({
      'mine.ts': `${HEAD}let seen = 0;
        export default defineStrategy({ name: 'mine', params: {}, ${INPUTS},
          onEvent() {
            if (++seen < 3) return;
            console.log('in the loop');
            for (;;);
          } });`,
    });
    const [clock, output] = [new FakeClock(), new PassThrough()];
    const threads = start(entry, { clock, output, eventLimitMs: 5_000 });
    await threads.begin([SETTING]);
    onTestFinished(() => threads.close());
    const processed = threads.process(SEGMENT);
    // Before that a thread that has to wait for a processor would hang in another event by the fake clock.
    await once(output, 'data');
    await expect(clock.advanceUntil(processed, 500)).rejects.toThrow(
      /mine\.ts: onEvent did not return within 5 s from the book event \d+ of 2026-/,
    );
  });

  test('a strategy that ends the process ends only its thread', async () => {
    const entry = strategy({ 'mine.ts': `${HEAD}process.exit(0);` });
    await expect(start(entry).describe()).rejects.toThrow(/mine\.ts: the strategy ended its thread/);
  });
});

describe('threads whose module is a stand-in', () => {
  /** @param answer Body of a function of a request; it returns the reply. `runs` are those of the thread. */
  function standIn(answer: string, options: Partial<ConstructorParameters<typeof StrategyThreads>[0]> = {}) {
    const module = strategy({
      'module.mjs': `import { parentPort } from 'node:worker_threads';
        let runs = [];
        const answer = (request) => {
          if (request.kind === 'begin') runs = request.runs.map(({ run }) => run);
          ${answer}
        };
        parentPort.on('message', (request) => parentPort.postMessage(answer(request)));`,
    });
    return start('mine.ts', { module, ...options });
  }

  test('give their results in the order of the settings, and the sum of their uses', async () => {
    const threads = standIn(
      `if (request.kind === 'begin') return { kind: 'begun' };
       const uses = [{ name: 'setTimeout', count: runs.length }, { name: 'Date', count: 1 }];
       return { kind: 'finished', results: runs.map((run) => ({ run })), codeHash: 'h', uses };`,
      { threads: 2 },
    );
    await threads.begin([SETTING, SETTING, SETTING]);
    expect(await threads.finish()).toEqual({
      ...{ results: [{ run: 1 }, { run: 2 }, { run: 3 }], codeHash: 'h' },
      uses: [
        { name: 'Date', count: 2 },
        { name: 'setTimeout', count: 3 },
      ],
    });
  });

  test('give the lines of a live run, and see no environment but the time zone', async () => {
    const threads = standIn(`return { kind: 'processed', items: 2, lines: [process.env] };`);
    expect(await threads.process(SEGMENT)).toEqual({ items: 2, lines: [{ TZ: 'UTC' }] });
  });

  test('keep the first failure, and fail every later request with it', async () => {
    const threads = standIn(`throw new Error('no memory');`);
    const message = 'mine.ts: the strategy ended its thread: no memory';
    await expect(threads.describe()).rejects.toThrow(message);
    await threads.close();
    await expect(threads.describe()).rejects.toThrow(message);
  });

  test('leave the output open and no timer behind', async () => {
    const clock = new FakeClock();
    const output = new PassThrough();
    const printed = once(output, 'data');
    const threads = standIn(`console.log('seen'); return { kind: 'described' };`, { clock, output });
    await threads.describe();
    expect(String(await printed)).toBe('seen\n');
    await threads.close();
    await new Promise(setImmediate);
    expect([output.writableEnded, clock.waiting]).toEqual([false, 0]);
  });
});
