// Fails when the lock file would install a package without its hash, from a fixed address, or with an install script
// that users need. Plain Node, because it runs before any package is installed. Usage: `checkLock.mjs [FILE]`.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Packages for other platforms with unknown hashes: their versions were not in the registry when this lock file was
 * made. npm skips them on other platforms, and on their own it installs them unverified. Remove each with the next
 * version of its package; add none without a reason of this kind.
 */
const UNKNOWN = [
  ...['darwin-arm64', 'darwin-x64', 'linux-arm64-gnu'].map(
    (platform) => `@chdb/lib-${platform}@26.7.3-stable.1`,
  ),
];
/**
 * User packages whose install script need not run, with the reason. npm skips install scripts if configured, as in
 * `.npmrc` here, and a compiling script fails on a machine without a compiler.
 */
const NEEDLESS_SCRIPTS = [
  // `node -e ""`: it keeps npm from compiling; the library is a separate package.
  'chdb@3.4.0',
];
/** The hash by which npm verifies a package; other and weaker hashes are refused. */
const INTEGRITY = /^sha512-[A-Za-z0-9+/]{86}==$/;

const file = process.argv[2] ?? fileURLToPath(new URL('../package-lock.json', import.meta.url));
const { packages } = JSON.parse(readFileSync(file, 'utf8'));
const problems = [];
const unused = new Set([...UNKNOWN, ...NEEDLESS_SCRIPTS]);
for (const [path, entry] of Object.entries(packages)) {
  // The project itself, its workspaces, and the links to them.
  if (!path.includes('node_modules/') || entry.link === true) continue;
  const name = `${entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${entry.version}`;
  if (entry.hasInstallScript === true && entry.dev !== true) {
    if (NEEDLESS_SCRIPTS.includes(name)) unused.delete(name);
    else problems.push(`${name} has an install script`);
  }
  if (entry.resolved !== undefined) problems.push(`${name} names an address: ${entry.resolved}`);
  if (entry.integrity === undefined && entry.optional === true && UNKNOWN.includes(name)) unused.delete(name);
  else if (!INTEGRITY.test(entry.integrity ?? '')) problems.push(`${name} has no sha512 integrity`);
}
for (const name of unused) problems.push(`${name} is excused in scripts/checkLock.mjs and need not be`);
for (const problem of problems) console.error(`package-lock.json: ${problem}`);
if (problems.length > 0) process.exitCode = 1;
