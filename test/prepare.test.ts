import { spawn } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync, utimesSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type CheckoutCopy, copyCheckout } from './support/checkoutCopy.ts';

const INSTALLING = 'underround: installing dependencies (first run: about a minute)...';
const BUILDING = 'underround: building (a few seconds)...';
const BUILDING_WEB = 'underround: building the dashboard (some ten seconds)...';
const BUILDING_SITE = 'underround: building the documentation...';
const LOCK = {
  packages: {
    '': {},
    'node_modules/a': { version: '1.0.0' },
    'node_modules/b': { version: '1.0.0', optional: true },
  },
};
const INSTALLED = { packages: { 'node_modules/a': { version: '1.0.0' } } };
const WEB_INPUTS = [
  'web/src/a.tsx',
  'web/public/a.svg',
  'web/index.html',
  'web/vite.config.ts',
  'web/package.json',
];
const [CI, BUILD, BUILD_SITE, BUILD_WEB] = [
  'ci --no-audit --no-fund',
  'run --silent build:service',
  'run --silent build:site',
  'run --silent build:web',
];

const SITE_INPUTS = [
  'docs/a.md',
  'site/a.ts',
  'src/http/pages/a.ts',
  'client/README.md',
  'clients/python/README.md',
  'CHANGELOG.md',
];

/** Replaces npm: records its calls and creates the files that npm would create. */
const NPM = `#!/bin/sh
echo "$*" >> npm.log
if [ -e npm.fails ]; then exit 1; fi
if [ "$1" = ci ]; then
  mkdir -p node_modules/.bin
  echo '${JSON.stringify(INSTALLED)}' > node_modules/.package-lock.json
fi
`;

let root: string;
let write: CheckoutCopy['write'];
/** The recorded calls of npm; of the three parallel builds, the service's is listed first. */
const npmCalls = () => {
  const log = join(root, 'npm.log');
  const calls = (existsSync(log) ? readFileSync(log, 'utf8') : '').split('\n').filter(Boolean);
  const last = calls.slice(-3);
  return last.every((call) => call.startsWith('run ')) ? [...calls.slice(0, -3), ...last.sort()] : calls;
};
/** Sets a file's time after the build, as an edit some seconds later would. */
const touchLater = (path: string) => utimesSync(join(root, path), 4e9, 4e9);

beforeEach(() => {
  ({ root, write } = copyCheckout('18.0'));
  write('package-lock.json', JSON.stringify(LOCK));
  write('src/a.ts', '');
  write('src/a.test.ts', '');
  write('tsconfig.json', '{}');
  write('tsconfig.build.json', '{}');
  write('src/core/a.ts', '');
  for (const path of [...WEB_INPUTS, ...SITE_INPUTS]) write(path, '');
  write('path/npm', NPM, 0o755);
  // The folders must be older than the following build at any resolution of the file system.
  const inputs = ['src/a.ts', 'src/core/a.ts', 'src/core', 'src', 'tsconfig.json', 'tsconfig.build.json'];
  const folders = ['web/src', 'web/public', 'docs', 'site', 'src/http/pages', 'src/http', 'src'];
  for (const path of [...inputs, ...WEB_INPUTS, ...SITE_INPUTS, ...folders])
    utimesSync(join(root, path), 1e9, 1e9);
});

async function prepare(...words: readonly string[]): Promise<{ exit: number | null; said: string[] }> {
  const env = { PATH: `${join(root, 'path')}${delimiter}${process.env.PATH ?? ''}` };
  const child = spawn(process.execPath, [join(root, 'scripts/prepare.mjs'), ...words], { env });
  let said = '';
  child.stderr.on('data', (chunk) => {
    said += chunk;
  });
  const exit = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { exit, said: said.split('\n').filter(Boolean) };
}

describe.skipIf(process.platform === 'win32')('scripts/prepare.mjs', () => {
  it('installs and builds a fresh clone, says so, and does nothing the second time', async () => {
    expect(await prepare()).toEqual({ exit: 0, said: [INSTALLING, BUILDING, BUILDING_WEB, BUILDING_SITE] });
    expect(npmCalls()).toEqual([CI, BUILD, BUILD_SITE, BUILD_WEB]);
    expect(existsSync(join(root, 'node_modules/.bin/underround'))).toBe(true);
    expect(await prepare()).toEqual({ exit: 0, said: [] });
    expect(npmCalls()).toHaveLength(4);
  });

  it('then runs the script or installed command in its arguments and returns its exit code', async () => {
    write('some/script.mjs', 'console.error(...process.argv.slice(1)); process.exitCode = 3;');
    const said = [
      INSTALLING,
      BUILDING,
      BUILDING_WEB,
      BUILDING_SITE,
      `${join(root, 'some/script.mjs')} a --b`,
    ];
    expect(await prepare('some/script.mjs', 'a', '--b')).toEqual({ exit: 3, said });
    write('node_modules/some/command.js', "throw new Error('planted');");
    symlinkSync('../some/command.js', join(root, 'node_modules/.bin/command'));
    const failed = await prepare('command');
    expect(failed.exit).toBe(1);
    expect(failed.said).toContain('Error: planted');
  });

  it.each(['src/a.ts', 'src', 'tsconfig.json'])('rebuilds when %s changed', async (path) => {
    await prepare();
    touchLater(path);
    expect(await prepare()).toEqual({ exit: 0, said: [BUILDING] });
  });

  it.each(['web/src/a.tsx', 'web/public', 'web/index.html'])(
    'rebuilds only the dashboard when %s changed',
    async (path) => {
      await prepare();
      touchLater(path);
      expect(await prepare()).toEqual({ exit: 0, said: [BUILDING_WEB] });
    },
  );

  it.each(['docs/a.md', 'site/a.ts', 'CHANGELOG.md'])(
    'rebuilds only the documentation when %s changed',
    async (path) => {
      await prepare();
      touchLater(path);
      expect(await prepare()).toEqual({ exit: 0, said: [BUILDING_SITE] });
    },
  );

  it('rebuilds both when a shared source changed', async () => {
    await prepare();
    touchLater('src/core/a.ts');
    expect(await prepare()).toEqual({ exit: 0, said: [BUILDING, BUILDING_WEB] });
  });

  it('removes the outputs of modules that no longer exist', async () => {
    await prepare();
    const [kept, removed] = [
      ['dist/a.js', 'dist/core/a.js.map', 'dist/web/assets/index.js'],
      ['dist/gone.js', 'dist/core/gone.js', 'dist/core/gone.js.map'],
    ];
    for (const path of [...kept, ...removed]) write(path, '');
    touchLater('src/a.ts');
    await prepare();
    const left = [...kept, ...removed].filter((path) => existsSync(join(root, path)));
    expect(left).toEqual(kept);
  });

  it('does not rebuild for a changed test', async () => {
    await prepare();
    touchLater('src/a.test.ts');
    expect(await prepare()).toEqual({ exit: 0, said: [] });
  });

  it.each([
    [
      'a version changed',
      { 'node_modules/a': { version: '2.0.0' } },
      [INSTALLING, BUILDING, BUILDING_WEB, BUILDING_SITE],
    ],
    [
      'a package was added',
      { ...LOCK.packages, 'node_modules/c': { version: '1.0.0' } },
      [INSTALLING, BUILDING, BUILDING_WEB, BUILDING_SITE],
    ],
    [
      'a package of another platform was added',
      { ...LOCK.packages, 'node_modules/c': { version: '1.0.0', optional: true } },
      [],
    ],
    ['only its time changed', LOCK.packages, []],
  ])('after the lock file: %s', async (_, packages, said) => {
    await prepare();
    write('package-lock.json', JSON.stringify({ packages }));
    touchLater('package-lock.json');
    expect(await prepare()).toEqual({ exit: 0, said });
  });

  it('two concurrent runs install and build once', async () => {
    const results = await Promise.all([prepare(), prepare()]);
    expect(results.map(({ exit }) => exit)).toEqual([0, 0]);
    expect(npmCalls()).toEqual([CI, BUILD, BUILD_SITE, BUILD_WEB]);
  });

  it('acquires a lock left by an ended process', async () => {
    write('dist/.prepare-lock/pid', '2147483646');
    expect((await prepare()).exit).toBe(0);
    expect(existsSync(join(root, 'dist/.prepare-lock'))).toBe(false);
  });

  it('names a failed step, repeats it the next time, and leaves no lock', async () => {
    write('npm.fails', '');
    const failed = { exit: 1, said: [INSTALLING, 'underround: `npm ci --no-audit --no-fund` failed'] };
    expect(await prepare()).toEqual(failed);
    expect(existsSync(join(root, 'dist/.prepare-lock'))).toBe(false);
    expect(await prepare()).toEqual(failed);
  });
});
