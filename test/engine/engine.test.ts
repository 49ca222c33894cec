/** The published engine: compiled as its package does, in an empty project that has nothing else. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as engine from '../../src/core/index.ts';
import { importsOf, PROJECT_ROOT, sourceFilesIn } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const run = promisify(execFile);
const TSC = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
const readme = readFileSync(join(PROJECT_ROOT, 'engine/README.md'), 'utf8');
const quickStart = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';

/** Each line asks for something that was not received; none of them may compile. */
const FUTURE = `
import { defineStrategy } from '@underround/engine';

defineStrategy({
  name: 'future',
  params: { below: { default: 0.3 } },
  inputs: { tickers: ['BTC'], eventTypes: ['5m'], model: true },
  onEvent(event, context) {
    if (event.type === 'resolved') return;
    if (event.type !== 'book') return;
    const market = context.market(event.marketId);
    // @ts-expect-error the outcome is no field of a market
    market.outcome;
    // @ts-expect-error nor is the close price
    market.closePrice;
    // @ts-expect-error a payout comes with its event only
    event.payoutYes;
    // @ts-expect-error no book of another time
    context.book(event.marketId, context.nowMs + 1_000);
    // @ts-expect-error no price of another time
    context.price(event.marketId, 'chainlink', context.nowMs + 1_000);
    // @ts-expect-error the clock is read, not set
    context.nowMs = event.timeMs + 1_000;
    // @ts-expect-error no next event
    context.next();
    // @ts-expect-error no result of a run from inside
    context.result();
    // @ts-expect-error no order in the past
    context.place({ marketId: event.marketId, token: 'yes', action: 'buy', limitPrice: 1, size: 1, placedMs: 0 });
    // @ts-expect-error no parameter that was not declared
    context.params.above;
    // @ts-expect-error a view is read only
    market.strikePrice = 1;
  },
});
`;

const TSCONFIG = {
  compilerOptions: {
    ...{ strict: true, module: 'NodeNext', target: 'ES2023', lib: ['ES2023'], types: [], noEmit: true },
    ...{ skipLibCheck: false, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  },
  include: ['*.ts'],
};

const project = temporaryDirectory(afterAll);
const installed = join(project, 'node_modules/@underround/engine');

beforeAll(async () => {
  mkdirSync(installed, { recursive: true });
  cpSync(join(PROJECT_ROOT, 'engine/package.json'), join(installed, 'package.json'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  const engineConfig = join(PROJECT_ROOT, 'engine/tsconfig.json');
  await run(process.execPath, [TSC, '-p', engineConfig, '--outDir', join(installed, 'dist')]);
});

const compile = () => run(process.execPath, [TSC, '-p', '.'], { cwd: project }).catch((error) => error);

describe('@underround/engine', () => {
  it('imports nothing: every import is a file of its own', () => {
    const modules = sourceFilesIn(join(installed, 'dist')).filter(({ path }) => path.endsWith('.js'));
    expect(modules.length).toBeGreaterThan(50);
    const others = modules.flatMap((module) =>
      importsOf(module).filter((target) => !/^(?:core|schema)\//.test(target)),
    );
    expect(others).toEqual([]);
  });

  it('has declarations that compile in an empty project, and asking for the future does not', async () => {
    writeFileSync(join(project, 'future.ts'), FUTURE);
    writeFileSync(
      join(project, 'quickStart.ts'),
      `declare const console: { log(...words: unknown[]): void };\n${quickStart}`,
    );
    expect(await compile()).toMatchObject({ stdout: '', stderr: '' });
    // Each case fails for its own reason: without the marks the compiler names every one.
    writeFileSync(join(project, 'future.ts'), FUTURE.replaceAll('@ts-expect-error', ''));
    const { stdout } = (await compile()) as { stdout: string };
    expect(stdout.match(/^future\.ts\(\d+,\d+\): error /gm)).toHaveLength(
      FUTURE.match(/@ts-expect-error/g)?.length ?? 0,
    );
  });

  it('runs the quick start of its README', async () => {
    const file = join(project, 'quickStart.ts');
    writeFileSync(file, quickStart);
    const { stdout } = await run(process.execPath, [file]);
    expect(stdout).toBe('order 1: filled - profit 7.05888 USD\n');
  });

  it('has no dependency, and asks for the Node of the service', () => {
    const read = (path: string) => JSON.parse(readFileSync(join(PROJECT_ROOT, path), 'utf8'));
    const own = read('engine/package.json');
    expect([own.dependencies, own.peerDependencies, own.optionalDependencies]).toEqual([
      ...[undefined, undefined, undefined],
    ]);
    expect(own.engines).toEqual(read('package.json').engines);
    expect(own.version).toBe(read('package.json').version);
  });

  it('exports what a stranger needs to run a strategy', () => {
    const names = [
      'defineStrategy',
      'startRun',
      'itemsOf',
      'stretchesOf',
      'replayMarket',
      'TakerFee',
      'LadderSide',
    ];
    expect(Object.keys(engine)).toEqual(expect.arrayContaining(names));
  });
});
