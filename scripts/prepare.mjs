// Prepares a checkout so that the service can run. It fetches a Node if the running one is too old, installs and builds
// missing or outdated parts, and reports each step. Then it runs its arguments, like `scripts/withNode.mjs`. Plain Node
// 18 without dependencies, because it runs before any is installed. It ends quickly when nothing is missing; concurrent
// calls are safe.
// Usage: node scripts/prepare.mjs [--node MAJOR] [SCRIPT [WORD...]]; MAJOR is one of `bin/nodeReleases.json`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isRunning } from '../bin/fetchNode.mjs';
import { neededNode } from '../bin/neededNode.mjs';
import { runNamed } from './runNamed.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOCK = path.join(ROOT, 'dist/.prepare-lock');
const LOCK_WAIT_MS_MAX = 15 * 60_000;
const LOCK_POLL_MS = 250;
/** Build targets with separate stamps: a change of the service does not rebuild the dashboard. */
const SERVICE = {
  script: 'build:service',
  saying: 'building (a few seconds)...',
  stamp: path.join(ROOT, 'dist/.built'),
  inputs: ['src', 'tsconfig.json', 'tsconfig.build.json'],
};
const DASHBOARD = {
  script: 'build:web',
  saying: 'building the dashboard (some ten seconds)...',
  stamp: path.join(ROOT, 'dist/.built-web'),
  // It contains the formulas of `core`.
  inputs: ['web/src', 'web/public', 'web/index.html', 'web/vite.config.ts', 'web/package.json', 'src/core'],
};
const SITE = {
  script: 'build:site',
  saying: 'building the documentation...',
  stamp: path.join(ROOT, 'dist/.built-site'),
  inputs: ['docs', 'site', 'src/http/pages', 'client/README.md', 'clients/python/README.md', 'CHANGELOG.md'],
};
const BUILDS = [SERVICE, DASHBOARD, SITE];

let holdsLock = false;
process.on('exit', unlock);
const words = process.argv.slice(2);
const [, major] = words[0] === '--node' ? words.splice(0, 2) : [];
// First, because it changes PATH.
const program = await neededNode(major);
if (missing().length > 0) {
  await lock();
  // Checked again: the previous holder of the lock may have done the work.
  const due = missing();
  if (due.includes(install)) install();
  // Concurrently: each uses one processor most of the time.
  await Promise.all(due.filter((step) => step !== install).map((step) => step()));
  unlock();
}
linkCommand();
if (words.length > 0) await runNamed(program, words);

/** The due steps, in order. A build is due after every installation: types may have changed. */
function missing() {
  const builds = (due) => due.map((target) => () => build(target));
  if (!isInstalled()) return [install, ...builds(BUILDS)];
  return builds(BUILDS.filter((target) => !isBuilt(target)));
}

function install() {
  say('installing dependencies (first run: about a minute)...');
  run('npm', ['ci', '--no-audit', '--no-fund']);
}

async function build({ script, saying, stamp }) {
  say(saying);
  // Before the build, so that a file saved during the build makes the next one due.
  const startedMs = Date.now();
  await runBeside('npm', ['run', '--silent', script]);
  if (script === SERVICE.script) removeLeftovers();
  fs.writeFileSync(stamp, '');
  fs.utimesSync(stamp, startedMs / 1000, startedMs / 1000);
}

/** Removes the outputs of modules that no longer exist: the compiler leaves them, and a package would contain them. */
function removeLeftovers() {
  const built = path.join(ROOT, 'dist');
  for (const name of fs.readdirSync(built, { recursive: true })) {
    const [, module] = /^(?!(?:web|site)[\\/])(.*)\.js(?:\.map)?$/.exec(name) ?? [];
    if (module !== undefined && !fs.existsSync(path.join(ROOT, 'src', `${module}.ts`)))
      fs.rmSync(path.join(built, name));
  }
}

/** Compares npm's record of installed packages with the lock file; file times are wrong after a checkout. */
function isInstalled() {
  const installed = packagesOf('node_modules/.package-lock.json');
  const wanted = packagesOf('package-lock.json');
  if (!installed || !wanted) return false;
  return Object.entries(wanted).every(([name, asked]) => {
    if (!name.startsWith('node_modules/') || asked.link) return true;
    const found = installed[name];
    // An optional package may be for another platform and correctly absent.
    return found ? found.version === asked.version : asked.optional === true || asked.peer === true;
  });
}

function packagesOf(file) {
  try {
    return JSON.parse(fs.readFileSync(path.join(ROOT, file), 'utf8')).packages;
  } catch {
    return null;
  }
}

function isBuilt({ stamp, inputs }) {
  const built = fs.statSync(stamp, { throwIfNoEntry: false });
  return built !== undefined && inputs.every((input) => newestMs(path.join(ROOT, input)) < built.mtimeMs);
}

/** The newest change in a file or folder; a folder's own time shows that a file was added or removed. */
function newestMs(target) {
  const own = fs.statSync(target);
  if (!own.isDirectory()) return target.endsWith('.test.ts') ? 0 : own.mtimeMs;
  const children = fs.readdirSync(target).map((name) => newestMs(path.join(target, name)));
  return Math.max(own.mtimeMs, ...children);
}

/** Links the command, so that `npx underround` and npm scripts find it in a checkout whatever npm's cache contains. */
function linkCommand() {
  const link = path.join(ROOT, 'node_modules/.bin/underround');
  if (process.platform === 'win32' || fs.existsSync(link)) return;
  fs.rmSync(link, { force: true });
  try {
    fs.symlinkSync('../../bin/underround.mjs', link);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

/** Acquires the lock; waits while its holder lives. */
async function lock() {
  for (let waitedMs = 0; waitedMs < LOCK_WAIT_MS_MAX; waitedMs += LOCK_POLL_MS) {
    try {
      fs.mkdirSync(path.dirname(LOCK), { recursive: true });
      fs.mkdirSync(LOCK);
      holdsLock = true;
      fs.writeFileSync(path.join(LOCK, 'pid'), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (waitedMs === 0) say('waiting for another installation or build of this checkout...');
    if (waitedMs > 0 && holderIsGone()) fs.rmSync(LOCK, { recursive: true, force: true });
    await sleep(LOCK_POLL_MS);
  }
  fail(`gave up waiting; if nothing is installing or building, remove ${LOCK}`);
}

function unlock() {
  if (holdsLock) fs.rmSync(LOCK, { recursive: true, force: true });
  holdsLock = false;
}

function holderIsGone() {
  try {
    return !isRunning(Number(fs.readFileSync(path.join(LOCK, 'pid'), 'utf8')));
  } catch {
    // It has not written its id yet, or has removed the lock.
    return false;
  }
}

function options() {
  // Standard output is reserved for the command that runs afterwards.
  const stdio = ['ignore', process.stderr, process.stderr];
  return { cwd: ROOT, stdio, shell: process.platform === 'win32' };
}

function run(command, parameters) {
  const { status, error } = spawnSync(command, parameters, options());
  check(command, parameters, { status, error });
}

/** The same, concurrently with others. */
async function runBeside(command, parameters) {
  const child = spawn(command, parameters, options());
  const ended = await once(child, 'exit').then(
    ([status]) => ({ status }),
    (error) => ({ status: null, error }),
  );
  check(command, parameters, ended);
}

function check(command, parameters, { status, error }) {
  if (status !== 0) fail(`\`${command} ${parameters.join(' ')}\` failed${error ? `: ${error.message}` : ''}`);
}

function say(line) {
  console.error(`underround: ${line}`);
}

function fail(line) {
  say(line);
  process.exit(1);
}
