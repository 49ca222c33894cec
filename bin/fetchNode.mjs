// Fetches a pinned release of Node from npm. Plain Node 18 without dependencies.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import path from 'node:path';

const IS_WINDOWS = process.platform === 'win32';
const PROGRAM = IS_WINDOWS ? 'bin/node.exe' : 'bin/node';
/** Unfinished folders, each named after the process that creates it. */
const MAKING = /^making-(\d+)$/;

/**
 * The program of a release, fetched if the folder does not have it. npm fetches it, so that the user's registry, proxy
 * and cache apply. It is used only after its hash matches the pinned one and it ran once; it appears in the folder
 * complete. Two concurrent processes both fetch, and one result stays.
 * @param {{
 *   release: { version: string, packages: Record<string, { name: string, integrity: string }> },
 *   folder: string,
 *   onFetch: (version: string, folder: string) => void,
 * }} options `onFetch` is called before a fetch.
 * @returns {string} The path of the program.
 * @throws {Error} When it cannot be fetched; the message is a clause with the reason.
 */
export function fetchNode({ release, folder, onFetch }) {
  const platform = `${process.platform}-${process.arch}`;
  const pinned = release?.packages[platform];
  if (!pinned) throw new Error(`no release of it is pinned for ${platform}`);
  const { version } = release;
  const target = path.join(folder, `node-${version}-${platform}`);
  const program = path.join(target, PROGRAM);
  if (existsSync(program)) return program;
  onFetch(version, target);
  const making = path.join(folder, `making-${process.pid}`);
  try {
    removeAbandoned(folder);
    mkdirSync(making, { recursive: true });
    const archive = download(`${pinned.name}@${version}`, making);
    checkIntegrity(path.join(making, archive), pinned.integrity);
    unpack(archive, making);
    place(path.join(making, 'package'), target);
  } catch (error) {
    throw new Error(`Node ${version} could not be fetched: ${error.message}`, { cause: error });
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return program;
}

/** Removes the unfinished folders of killed processes. */
function removeAbandoned(folder) {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [, id] = MAKING.exec(name) ?? [];
    if (id !== undefined && !isRunning(Number(id))) {
      rmSync(path.join(folder, name), { recursive: true, force: true });
    }
  }
}

/** Whether another process with this id exists. */
export function isRunning(id) {
  try {
    return id !== process.pid && process.kill(id, 0);
  } catch (error) {
    return error.code !== 'ESRCH';
  }
}

/** Makes npm write a package's archive to a folder, from its cache if possible, which works offline. */
function download(spec, folder) {
  const words = ['pack', spec, '--ignore-scripts', '--no-update-notifier', '--loglevel=error'];
  const options = {
    // An environment setting instead of an argument, because the shell that npm needs on Windows would split a path.
    env: { ...process.env, npm_config_pack_destination: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
    shell: IS_WINDOWS,
    encoding: 'utf8',
  };
  const cached = spawnSync('npm', [...words, '--offline'], options);
  const { error, status, stderr } = cached.status === 0 ? cached : spawnSync('npm', words, options);
  if (error) throw new Error(`npm does not run (${error.code})`);
  const archive = readdirSync(folder).find((name) => name.endsWith('.tgz'));
  if (status === 0 && archive !== undefined) return archive;
  throw new Error(`\`npm pack ${spec}\` failed (${npmProblem(stderr) || `status ${status}`})`);
}

/** npm's error message, e.g. `ENOTFOUND request to ... failed`, on one line. */
function npmProblem(stderr) {
  const said = [...stderr.matchAll(/^npm (?:error|ERR!) (.+)$/gm)].map(([, words]) => words.trim());
  return said
    .slice(0, 4)
    .map((words) => words.replace(/^(?:code|errno|network) /, ''))
    .filter((words, index, all) => all.indexOf(words) === index)
    .join(', ');
}

function checkIntegrity(file, integrity) {
  const found = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`;
  if (found !== integrity) throw new Error(`what npm gave has the hash ${found}, not the pinned one`);
}

function unpack(archive, folder) {
  // Without the headers and manual pages, which are most of its files.
  const words = ['-xzf', archive, `package/${PROGRAM}`, 'package/LICENSE'];
  const { error, status, stderr } = spawnSync('tar', words, { cwd: folder, encoding: 'utf8' });
  if (error) throw new Error(`tar does not run (${error.code})`);
  if (status !== 0) throw new Error(`tar failed (${stderr.trim().split('\n').at(-1)})`);
  const program = path.join(folder, 'package', PROGRAM);
  const file = openSync(program, 'r+');
  fsyncSync(file);
  closeSync(file);
  const trial = spawnSync(program, ['--version'], { encoding: 'utf8' });
  if (trial.status !== 0) {
    const why = trial.error?.code ?? trial.stderr.trim().split('\n')[0];
    throw new Error(`it does not run on this machine (${why})`);
  }
}

/** Moves the finished folder to its place; another process may have moved an equal one there first. */
function place(finished, target) {
  try {
    renameSync(finished, target);
  } catch (error) {
    if (!existsSync(path.join(target, PROGRAM))) throw error;
  }
}
