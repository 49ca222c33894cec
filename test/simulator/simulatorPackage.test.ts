/** The published simulator: compiled as its package does, in an empty project with its dependencies only. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importsOf, PROJECT_ROOT, sourceFilesIn } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const run = promisify(execFile);
const TSC = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
const readJson = (path: string) => JSON.parse(readFileSync(join(PROJECT_ROOT, path), 'utf8'));
const own = readJson('simulator/package.json') as { dependencies: Record<string, string>; version: string };
const readme = readFileSync(join(PROJECT_ROOT, 'simulator/README.md'), 'utf8');

const project = temporaryDirectory(afterAll);
const installed = join(project, 'node_modules/@underround/simulator');

beforeAll(async () => {
  mkdirSync(installed, { recursive: true });
  cpSync(join(PROJECT_ROOT, 'simulator/package.json'), join(installed, 'package.json'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', private: true }));
  for (const name of Object.keys(own.dependencies))
    symlinkSync(join(PROJECT_ROOT, 'node_modules', name), join(project, 'node_modules', name));
  const config = join(PROJECT_ROOT, 'simulator/tsconfig.json');
  await run(process.execPath, [TSC, '-p', config, '--outDir', join(installed, 'dist')]);
});

describe('@underround/simulator', () => {
  it('imports its dependencies and nothing else', () => {
    const modules = sourceFilesIn(join(installed, 'dist')).filter(({ path }) => path.endsWith('.js'));
    const folders = /^(?:simulator|core|schema|runtime|venues)\//;
    const imported = modules.flatMap(importsOf).filter((target) => !folders.test(target));
    const packages = imported.filter((target) => !target.startsWith('node:'));
    expect([...new Set(packages)].toSorted()).toEqual(Object.keys(own.dependencies));
  });

  it('has the versions of the service', () => {
    const service = readJson('package.json');
    const expected = Object.keys(own.dependencies).map((name) => [name, service.dependencies[name]]);
    expect(Object.entries(own.dependencies)).toEqual(expected);
    expect(own.version).toBe(service.version);
  });

  it('runs the quick start of its README', async () => {
    const file = join(project, 'quickStart.ts');
    writeFileSync(file, /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? '');
    const { stdout } = await run(process.execPath, [file]);
    expect(stdout).toBe('200 15 variables\n');
  });

  it('serves from the command line until a signal', async () => {
    const command = join(installed, 'dist/simulator/command.js');
    const child = spawn(process.execPath, [command, '--seed', 'a', '--density', '0.01']);
    const [printed] = (await once(child.stdout, 'data')) as [Buffer];
    const url = /^UNDERROUND_CLOB_URL=(http:\/\/127\.0\.0\.1:\d+\/clob)$/m.exec(String(printed))?.[1];
    expect((await fetch(`${url}/time`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });

  it.each([
    [['--port', '70000'], '--port must be a whole number from 0 to 65535'],
    [['--density', '2'], '--density must be a number from 0.001 to 1'],
    [['--speed', '2'], "Unknown option '--speed'"],
  ])('refuses %s with one line', async (words, line) => {
    const command = join(installed, 'dist/simulator/command.js');
    const failed = await run(process.execPath, [command, ...words]).catch((error) => error);
    expect([failed.code, failed.stderr.split('\n')[0]]).toEqual([2, expect.stringContaining(line)]);
  });
});
