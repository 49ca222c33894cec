import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PROJECT_ROOT } from './sourceFiles.ts';
import { temporaryDirectory } from './temporaryDirectory.ts';

const PLATFORM = `${process.platform}-${process.arch}`;
/** The Node release that replaces an older Node in a copy. */
export const RELEASE = { version: '26.0.1', name: 'node-for-tests' };

/** A folder with the launching part of the project: `bin`, the preparing scripts, and a `package.json`. */
export interface CheckoutCopy {
  readonly root: string;
  write(path: string, text: string, mode?: number): void;
  /** Pins a release whose program is this shell script, and returns the path of its archive, as npm would fetch it. */
  pinRelease(program?: string): string;
}

/** @param floor The lowest Node version that the copy accepts; `99.0` makes every Node too old. */
export function copyCheckout(floor: string): CheckoutCopy {
  const root = temporaryDirectory();
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
    chmodSync(join(root, path), mode);
  };
  cpSync(join(PROJECT_ROOT, 'bin'), join(root, 'bin'), { recursive: true });
  for (const script of ['prepare', 'runNamed', 'withNode']) {
    cpSync(join(PROJECT_ROOT, `scripts/${script}.mjs`), join(root, `scripts/${script}.mjs`));
  }
  write('package.json', JSON.stringify({ type: 'module', engines: { node: `>=${floor}` } }));
  const pinRelease = (program = `#!/bin/sh\nexec "${process.execPath}" "$@"\n`) => {
    write('release/package/bin/node', program, 0o755);
    write('release/package/LICENSE', 'free');
    write('release/package/README.md', 'nobody needs this');
    const archive = join(root, 'release/release.tgz');
    execFileSync('tar', ['-czf', archive, '-C', dirname(archive), 'package']);
    const integrity = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
    const packages = { [PLATFORM]: { name: RELEASE.name, integrity } };
    write('bin/nodeReleases.json', JSON.stringify({ 26: { version: RELEASE.version, packages } }));
    return archive;
  };
  return { root, write, pinRelease };
}

/** Where a copy keeps the release, inside its cache folder. */
export const RELEASE_FOLDER = `node-${RELEASE.version}-${PLATFORM}`;
