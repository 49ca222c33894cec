import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PROJECT_ROOT } from './sourceFiles.ts';
import { WAIT_MS_MAX } from './waitLimit.ts';

/** npm's messages for an unreachable registry, and for a package that only a registry has. */
const UNREACHABLE =
  /npm error code (?:E(?:AI_AGAIN|CONNREFUSED|CONNRESET|HOSTUNREACH|NETUNREACH|NOTCACHED|NOTFOUND|TIMEDOUT|5\d\d)|ERR_SOCKET_TIMEOUT)/;
/** Set by npm for the scripts it runs; with them the npm of a test would work on the checkout. */
const OF_THIS_RUN = /^npm_(?:package_|lifecycle_|config_(?:local_prefix|prefix|omit|include)$)/;
const NPM_QUIET = ['--no-audit', '--no-fund', '--no-update-notifier'];

/** The project as users get it: packed, and installed in a separate folder. */
interface InstalledPackage {
  /** Why it could not be installed; null: it is installed. Tests are skipped with this reason; in CI they fail. */
  readonly absent: string | null;
  /** The folder it was installed in. */
  readonly folder: string;
  /** The installed package. */
  readonly root: string;
  /** The command as npm links it. */
  readonly command: string;
}

/**
 * Packs the build and installs the package with production dependencies and without install scripts. Omits the embedded
 * engine, whose library is 0.5 GB.
 * @param folder An empty folder.
 */
export async function installPackage(folder: string): Promise<InstalledPackage> {
  const root = join(folder, 'node_modules/underround');
  const installed = { folder, root, command: join(folder, 'node_modules/.bin/underround') };
  // Uses the build that `npm test` made: building again would remove it from under tests that run concurrently.
  await npm(PROJECT_ROOT, 'pack', '--ignore-scripts', '--pack-destination', folder);
  const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
  const stub = join(folder, 'noEngine');
  mkdirSync(stub);
  writeFileSync(join(stub, 'package.json'), '{ "name": "chdb", "version": "0.0.0" }');
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, overrides: { chdb: `file:${stub}` } }),
  );
  try {
    await npm(folder, 'install', `./${archive}`, '--omit=dev', '--ignore-scripts', '--prefer-offline');
  } catch (error) {
    const { stderr = '' } = error as { stderr?: string };
    if (process.env.CI !== undefined || !UNREACHABLE.test(stderr)) throw error;
    return { absent: 'the npm registry cannot be reached', ...installed };
  }
  rmSync(join(folder, 'node_modules/chdb'), { recursive: true });
  return { absent: null, ...installed };
}

/** Adds a package of the checkout to the installed ones. */
export function addFromCheckout({ folder }: InstalledPackage, name: string): void {
  const target = join(folder, 'node_modules', name);
  rmSync(target, { recursive: true, force: true });
  symlinkSync(join(PROJECT_ROOT, 'node_modules', name), target);
}

/** Runs npm in a folder; rejects with its output when it fails. */
async function npm(cwd: string, ...words: readonly string[]): Promise<void> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_THIS_RUN.test(name)));
  await promisify(execFile)('npm', [...words, ...NPM_QUIET], { cwd, env, timeout: WAIT_MS_MAX });
}
