// Decides which Node runs this project: the running one if it is new enough, else a pinned release that is fetched
// once. Plain Node 18 without dependencies.
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The release that replaces an older Node; others are fetched only for tests. */
const MAJOR = '26';

/**
 * The Node for the project, as the path of its program; null if the running one is suitable. A fetched one becomes
 * first in PATH, so that child processes find it there. If none can be fetched, prints one line and exits.
 * @param {string} [major] Requires exactly this major version. By default any version from the minimum on is suitable.
 * @returns {Promise<string | null>}
 */
export async function neededNode(major) {
  const floor = readFloor();
  const running = process.versions.node;
  if (isFrom(floor, running) && (major === undefined || running.startsWith(`${major}.`))) return null;
  const reason =
    major === undefined ? `Node ${running} is older than ${floor}` : `Node ${major} is asked for`;
  const { fetchNode } = await import('./fetchNode.mjs');
  try {
    const program = fetchNode({
      release: readJson('bin/nodeReleases.json')[major ?? MAJOR],
      folder: cacheFolder(),
      onFetch: (version, folder) => say(`${reason}: fetching Node ${version} from npm, once, to ${folder}`),
    });
    process.env.PATH = [path.dirname(program), process.env.PATH].filter(Boolean).join(path.delimiter);
    return program;
  } catch (error) {
    const wanted = major ?? `${floor} or later`;
    say(`${reason}, and ${error.message}; install Node ${wanted} (https://nodejs.org) and run this again`);
    process.exit(1);
  }
}

/** The minimum version in `package.json`, e.g. `22.19`. */
function readFloor() {
  return readJson('package.json').engines.node.replace(/^>=/, '');
}

function isFrom(floor, version) {
  const [wanted, found] = [floor, version].map((text) => text.split('.').map(Number));
  const differing = wanted.findIndex((number, index) => number !== found[index]);
  return differing === -1 || found[differing] > wanted[differing];
}

function readJson(file) {
  return JSON.parse(readFileSync(path.join(ROOT, file), 'utf8'));
}

/** Outside `node_modules`, which `npm ci` removes. The folder of an installed package may be read-only. */
function cacheFolder() {
  if (existsSync(path.join(ROOT, 'scripts/prepare.mjs'))) return path.join(ROOT, '.cache');
  return path.join(userCacheFolder(), 'underround');
}

function userCacheFolder() {
  const { XDG_CACHE_HOME = '', LOCALAPPDATA } = process.env;
  if (process.platform === 'darwin') return path.join(homedir(), 'Library/Caches');
  if (process.platform === 'win32') return LOCALAPPDATA ?? path.join(homedir(), 'AppData/Local');
  // A relative path must be ignored (XDG Base Directory Specification).
  return path.isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : path.join(homedir(), '.cache');
}

function say(line) {
  console.error(`underround: ${line}`);
}
