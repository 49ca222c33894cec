import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type CheckoutCopy, copyCheckout, RELEASE, RELEASE_FOLDER } from './support/checkoutCopy.ts';
import { temporaryDirectory } from './support/temporaryDirectory.ts';

const SPEC = `${RELEASE.name}@${RELEASE.version}`;
const OWN = process.versions.node;
/** The output of the commands in these tests: the first Node in PATH, and their arguments. */
const MAIN = `
  const [node] = process.env.PATH.split(${JSON.stringify(delimiter)});
  console.log(JSON.stringify({ node, words: process.argv.slice(2) }));`;
const OLD_FLOOR = '99.0';
const REASON = `underround: Node ${OWN} is older than ${OLD_FLOOR}`;
const NEXT = `install Node ${OLD_FLOOR} or later (https://nodejs.org) and run this again`;

let copy: CheckoutCopy;
let archive: string;
const placed = () => join(copy.root, '.cache', RELEASE_FOLDER);
const fetching = (folder: string) =>
  `${REASON}: fetching Node ${RELEASE.version} from npm, once, to ${folder}\n`;
const refused = (why: string) =>
  `${fetching(placed())}${REASON}, and Node ${RELEASE.version} could not be fetched: ${why}; ${NEXT}\n`;
const npmCalls = () => {
  const log = join(copy.root, 'npm.log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').filter(Boolean) : [];
};

beforeEach(() => {
  copy = copyCheckout(OLD_FLOOR);
  archive = copy.pinRelease();
  copy.write('dist/cli/main.js', MAIN);
  copy.write('some/script.mjs', MAIN);
  standInForNpm(`cp "${archive}" "$npm_config_pack_destination"`);
});

/** Replaces npm by a shell script that records its calls. */
function standInForNpm(script: string): void {
  copy.write('path/npm', `#!/bin/sh\necho "$*" >> "${join(copy.root, 'npm.log')}"\n${script}\n`, 0o755);
}

interface Ended {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

function ended(child: ChildProcess): Promise<Ended> {
  let [out, err] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    err += chunk;
  });
  return new Promise((resolve) => child.once('close', (exit) => resolve({ exit, out, err })));
}

/** Runs a script of the copy (default: the built command) with the stand-in as npm in PATH. */
function run(
  environment: Record<string, string> = {},
  words = ['bin/underround.mjs', 'serve'],
): Promise<Ended> {
  const [script = '', ...rest] = words;
  const env = {
    PATH: [join(copy.root, 'path'), process.env.PATH].join(delimiter),
    HOME: join(copy.root, 'home'),
    ...environment,
  };
  return ended(spawn(process.execPath, [join(copy.root, script), ...rest], { env }));
}

/** The output of a run whose PATH begins with the release in this folder. */
const ranIn = (folder: string, words = ['serve']) =>
  `${JSON.stringify({ node: join(folder, 'bin'), words })}\n`;

describe.skipIf(process.platform === 'win32')('when Node is too old', () => {
  it('fetches the pinned release once, says so in one line, and runs with it', async () => {
    expect(await run()).toEqual({ exit: 0, out: ranIn(placed()), err: fetching(placed()) });
    expect(npmCalls()).toEqual([
      `pack ${SPEC} --ignore-scripts --no-update-notifier --loglevel=error --offline`,
    ]);
    expect(readdirSync(join(copy.root, '.cache'))).toEqual([RELEASE_FOLDER]);
    expect(readdirSync(placed(), { recursive: true }).sort()).toEqual(['LICENSE', 'bin', 'bin/node']);
    expect(await run()).toEqual({ exit: 0, out: ranIn(placed()), err: '' });
    expect(npmCalls()).toHaveLength(1);
  });

  it('fetches it through npm from the registry in the user’s settings', async () => {
    rmSync(join(copy.root, 'path/npm'));
    const bytes = readFileSync(archive);
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      if (request.url?.endsWith('.tgz')) return void response.end(bytes);
      const { name, version } = RELEASE;
      const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
      const tarball = `http://${request.headers.host}/${name}.tgz`;
      const versions = { [version]: { name, version, dist: { tarball, integrity } } };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const environment = { npm_config_registry: registry, npm_config_cache: temporaryDirectory() };
    expect(await run(environment)).toEqual({ exit: 0, out: ranIn(placed()), err: fetching(placed()) });
    expect([...new Set(paths)]).toEqual([`/${RELEASE.name}`, `/${RELEASE.name}.tgz`]);
    // npm now has it in its cache: another checkout needs no network.
    rmSync(placed(), { recursive: true });
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(await run(environment)).toEqual({ exit: 0, out: ranIn(placed()), err: fetching(placed()) });
  });

  it('two concurrent runs both work and leave one release', async () => {
    const expected = { exit: 0, out: ranIn(placed()), err: fetching(placed()) };
    // Both must have requested their archive before either receives it.
    standInForNpm(`
      while [ "$(wc -l < "${join(copy.root, 'npm.log')}")" -lt 2 ]; do :; done
      cp "${archive}" "$npm_config_pack_destination"`);
    expect(await Promise.all([run(), run()])).toEqual([expected, expected]);
    expect(readdirSync(join(copy.root, '.cache'))).toEqual([RELEASE_FOLDER]);
  });

  it('removes partial files of a killed process, but not those of a running one', async () => {
    const [dead, living] = ['making-2147483646', `making-${process.pid}`];
    for (const name of [dead, living]) copy.write(`.cache/${name}/package/bin/node`, '');
    expect((await run()).exit).toBe(0);
    expect(readdirSync(join(copy.root, '.cache')).sort()).toEqual([living, RELEASE_FOLDER]);
  });

  it.each([
    [
      'npm cannot reach the registry',
      'echo "npm error code ENOTFOUND\nnpm error errno ENOTFOUND\nnpm error network request to x failed" >&2; exit 1',
      `\`npm pack ${SPEC}\` failed (ENOTFOUND, request to x failed)`,
    ],
    ['npm ends without output', 'exit 7', `\`npm pack ${SPEC}\` failed (status 7)`],
    [
      'npm gives no archive',
      'touch "$npm_config_pack_destination/release.tgz"',
      `what npm gave has the hash sha512-${createHash('sha512').digest('base64')}, not the pinned one`,
    ],
  ])('ends with one clear line when %s', async (_, npm, why) => {
    standInForNpm(npm);
    expect(await run()).toEqual({ exit: 1, out: '', err: refused(why) });
    expect(readdirSync(join(copy.root, '.cache'))).toEqual([]);
  });

  it('rejects an archive whose hash is not the pinned one', async () => {
    const foreign = createHash('sha512').update('another').digest('base64');
    const pins = readFileSync(join(copy.root, 'bin/nodeReleases.json'), 'utf8');
    copy.write('bin/nodeReleases.json', pins.replace(/sha512-[^"]*/, `sha512-${foreign}`));
    const found = createHash('sha512').update(readFileSync(archive)).digest('base64');
    const why = `what npm gave has the hash sha512-${found}, not the pinned one`;
    expect(await run()).toEqual({ exit: 1, out: '', err: refused(why) });
    expect(readdirSync(join(copy.root, '.cache'))).toEqual([]);
  });

  it('rejects a release that does not run on this machine', async () => {
    archive = copy.pinRelease('#!/bin/sh\necho "GLIBC_2.28 not found" >&2\nexit 1\n');
    const why = 'it does not run on this machine (GLIBC_2.28 not found)';
    expect(await run()).toEqual({ exit: 1, out: '', err: refused(why) });
    expect(readdirSync(join(copy.root, '.cache'))).toEqual([]);
  });

  it('reports a missing npm, and a machine without a pinned release', async () => {
    const path = temporaryDirectory();
    expect(await run({ PATH: path })).toMatchObject({ exit: 1, err: refused('npm does not run (ENOENT)') });
    copy.write('bin/nodeReleases.json', JSON.stringify({ 26: { version: RELEASE.version, packages: {} } }));
    const why = `no release of it is pinned for ${process.platform}-${process.arch}`;
    expect(await run()).toEqual({ exit: 1, out: '', err: `${REASON}, and ${why}; ${NEXT}\n` });
  });

  it.skipIf(process.platform !== 'linux')('an installed package keeps it in the user’s cache', async () => {
    rmSync(join(copy.root, 'scripts'), { recursive: true });
    const [cache, home] = [temporaryDirectory(), temporaryDirectory()];
    const ours = join(cache, 'underround', RELEASE_FOLDER);
    const expected = { exit: 0, out: ranIn(ours), err: fetching(ours) };
    expect(await run({ XDG_CACHE_HOME: cache })).toEqual(expected);
    // A relative path must be ignored.
    const others = join(home, '.cache/underround', RELEASE_FOLDER);
    for (const XDG_CACHE_HOME of ['relative', '']) {
      rmSync(others, { recursive: true, force: true });
      expect(await run({ XDG_CACHE_HOME, HOME: home })).toMatchObject({ out: ranIn(others) });
    }
    expect(existsSync(placed())).toBe(false);
  });

  it.each([
    ['scripts/withNode.mjs', 'some/script.mjs'],
    ['scripts/prepare.mjs', 'some/script.mjs'],
  ])('%s runs its script with it', async (...words) => {
    standInForNpm(`if [ "$1" = pack ]; then cp "${archive}" "$npm_config_pack_destination"; fi`);
    for (const path of ['src', 'web/src', 'web/public']) copy.write(`${path}/a.ts`, '');
    for (const path of ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json']) copy.write(path, '{}');
    for (const path of ['index.html', 'vite.config.ts', 'package.json']) copy.write(`web/${path}`, '');
    copy.write('node_modules/.bin/any', '');
    copy.write('src/core/a.ts', '');
    const { exit, out, err } = await run({}, [...words, '--flag']);
    expect([exit, out]).toEqual([0, ranIn(placed(), ['--flag'])]);
    expect(err).toContain(fetching(placed()));
  });
});

describe.skipIf(process.platform === 'win32')('when Node is new enough', () => {
  it.each([
    ['older', '18.0'],
    ['of the same major version', OWN.replace(/\..*/, '.0')],
    ['the same', OWN],
  ])('runs without another process for a required version that is %s', async (_, floor) => {
    copy.write('package.json', JSON.stringify({ type: 'module', engines: { node: `>=${floor}` } }));
    copy.write('dist/cli/main.js', 'console.log(process.pid, process.argv.slice(2))');
    const child = spawn(process.execPath, [join(copy.root, 'bin/underround.mjs'), 'a'], { env: {} });
    expect(await ended(child)).toEqual({ exit: 0, out: `${child.pid} [ 'a' ]\n`, err: '' });
  });

  it.each([
    ['major', (major: number, minor: number) => `${major + 1}.${minor}`],
    ['minor', (major: number, minor: number) => `${major}.${minor + 1}`],
    ['patch', (major: number, minor: number, patch: number) => `${major}.${minor}.${patch + 1}`],
  ])('is not new enough when the required version is one %s version later', async (_, later) => {
    const [major = 0, minor = 0, patch = 0] = OWN.split('.').map(Number);
    const floor = later(major, minor, patch);
    copy.write('package.json', JSON.stringify({ type: 'module', engines: { node: `>=${floor}` } }));
    expect((await run()).err).toMatch(`Node ${OWN} is older than ${floor}: fetching`);
  });

  it('a script by its absolute path runs, and one that does not exist is named in one line', async () => {
    copy.write('package.json', JSON.stringify({ type: 'module', engines: { node: '>=18.0' } }));
    const named = (script: string) => run({}, ['scripts/withNode.mjs', script, '--flag']);
    copy.write('some/script.mjs', 'console.log(process.argv.slice(2))');
    const ran = { exit: 0, out: "[ '--flag' ]\n", err: '' };
    expect(await named(join(copy.root, 'some/script.mjs'))).toEqual(ran);
    const absent = join(copy.root, 'some/other.mjs');
    for (const script of [absent, 'some/other.mjs'])
      expect(await named(script)).toEqual({ exit: 1, out: '', err: `underround: there is no ${absent}\n` });
    const err = `underround: there is no ${join(copy.root, 'node_modules/.bin/nothing')}: run \`npm ci\`\n`;
    expect(await named('nothing')).toEqual({ exit: 1, out: '', err });
  });

  it('uses another release only on request', async () => {
    copy.write('package.json', JSON.stringify({ type: 'module', engines: { node: '>=18.0' } }));
    const [asked, other] = [OWN.replace(/\..*/, ''), '7'];
    const pins = JSON.parse(readFileSync(join(copy.root, 'bin/nodeReleases.json'), 'utf8'));
    copy.write('bin/nodeReleases.json', JSON.stringify({ [other]: pins['26'] }));
    copy.write(
      'some/caller.mjs',
      'import { neededNode } from "../bin/neededNode.mjs"; console.log(await neededNode(process.argv[2]));',
    );
    expect(await run({}, ['some/caller.mjs', asked])).toEqual({ exit: 0, out: 'null\n', err: '' });
    const err = `underround: Node ${other} is asked for: fetching Node ${RELEASE.version} from npm, once, to ${placed()}\n`;
    expect(await run({}, ['some/caller.mjs', other])).toEqual({
      exit: 0,
      out: `${placed()}/bin/node\n`,
      err,
    });
  });
});
