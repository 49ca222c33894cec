import { type ExecFileException, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { commandAbsent } from '../support/builtCommand.ts';
import { addFromCheckout, installPackage } from '../support/installedPackage.ts';
import { startProgram } from '../support/runningService.ts';
import { PROJECT_ROOT } from '../support/sourceFiles.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';
import { WAIT_MS_MAX } from '../support/waitLimit.ts';

const installed = commandAbsent ? null : await installPackage(temporaryDirectory(afterAll));
const absent = installed === null ? 'needs `npm run build`' : installed.absent;
const { version, optionalDependencies } = JSON.parse(
  readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8'),
);

describe.skipIf(absent)(`the installed package${absent ? ` (skipped: ${absent})` : ''}`, () => {
  const own = installed ?? fail();
  const run = promisify(execFile);
  // The linked command runs in the first Node of PATH: the one that runs this test.
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter);
  const environment = () => ({
    PATH,
    UNDERROUND_DATA_DIR: join(temporaryDirectory(), 'data'),
    ...VENUES_OFF,
  });

  it('contains no package of the dashboard or of development, and none of the workspaces', () => {
    const names = readdirSync(join(own.folder, 'node_modules'));
    const unwanted = [
      'react',
      'react-dom',
      '@mantine',
      '@tanstack',
      'vite',
      'vitest',
      'typescript',
      '@underround',
    ];
    expect(names).toContain('fastify');
    expect(names.filter((name) => unwanted.includes(name))).toEqual([]);
  });

  it('runs through its link, a link to that link, its absolute path and npx', async () => {
    const elsewhere = temporaryDirectory();
    const env = { ...process.env, PATH };
    const link = join(elsewhere, 'anyName');
    symlinkSync(own.command, link);
    const versionOf = async (program: string, ...words: string[]) =>
      (await run(program, [...words, '--version'], { cwd: elsewhere, env, timeout: WAIT_MS_MAX })).stdout;
    expect(await versionOf(own.command)).toBe(`${version}\n`);
    expect(await versionOf(link)).toBe(`${version}\n`);
    expect(await versionOf(process.execPath, join(own.root, 'bin/underround.mjs'))).toBe(`${version}\n`);
    const npx = await run('npx', ['--no', '--', 'underround', '--version'], {
      cwd: own.folder,
      env,
      timeout: WAIT_MS_MAX,
    });
    expect(npx.stdout).toBe(`${version}\n`);
  });

  it.each(['serve', 'demo'])('%s without chdb names the next step in one line', async (word) => {
    const env = { UNDERROUND_PORT: '0', ...environment() };
    const refused: ExecFileException = await run(own.command, [word], { env, timeout: WAIT_MS_MAX }).catch(
      (error) => error,
    );
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      1,
      '',
      `underround: the embedded engine is not installed: run \`npm install chdb@${optionalDependencies.chdb}\` (Linux with glibc or macOS, x64 or arm64) or, except for the demo, set CLICKHOUSE_URL\n`,
    ]);
  });

  it('serve runs without chdb when CLICKHOUSE_URL names a server', async () => {
    const service = await startProgram([own.command, 'serve'], {
      ...environment(),
      CLICKHOUSE_URL: await startStandInServer(),
    });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    expect(await service.stop()).toBe(0);
  });

  it('demo runs with chdb, answers /health and serves the dashboard', async () => {
    addFromCheckout(own, 'chdb');
    const demo = await startProgram([own.command, 'demo', '--hours', '0.05'], {
      ...environment(),
    });
    const health = await fetch(`${demo.url}/health`);
    expect([health.status, health.headers.get('x-data-source')]).toEqual([200, 'simulated']);
    const page = await fetch(`${demo.url}/`, { headers: { accept: 'text/html' } });
    const html = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const [, script = ''] = /<script [^>]*src="(\/assets\/[^"]+\.js)"/.exec(html) ?? [];
    expect((await fetch(demo.url + script)).status).toBe(200);
    expect(await demo.stop()).toBe(0);
  });
});

function fail(): never {
  throw new Error('skipped');
}

/** The checkout's own engine on a TCP port, which the service uses as a ClickHouse server. @returns Its URL. */
async function startStandInServer(): Promise<string> {
  const directory = temporaryDirectory();
  const entry = join(PROJECT_ROOT, 'dist/store/engine/host/main.js');
  const place = ['--data-dir', directory, '--socket', join(directory, 'engine.sock')];
  const host = spawn(process.execPath, [entry, ...place, '--listen-host', '127.0.0.1'], {
    env: { UV_THREADPOOL_SIZE: '16', UNDERROUND_STORE_PASSWORD: 'secret' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = once(host, 'exit');
  onTestFinished(async () => {
    host.stdin.end();
    await ended;
  });
  const [line] = await Promise.race([once(createInterface({ input: host.stdout }), 'line'), ended]);
  const [, port] = /^listening (\d+)$/.exec(String(line)) ?? [];
  if (port === undefined) throw new Error('the stand-in for a ClickHouse server did not start');
  return `http://underround:secret@127.0.0.1:${port}`;
}
