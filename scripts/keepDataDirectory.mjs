// Writes a data directory as a killed service of a checkout leaves it, for the tests that open directories of earlier
// releases: an archive and a file that says what the directory must hold.
// Usage: node scripts/withNode.mjs scripts/keepDataDirectory.mjs CHECKOUT COMMIT [FOLDER]; CHECKOUT is built, at COMMIT.
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

const [checkout, commit, folder = 'test/fixtures/dataDirectory'] = process.argv.slice(2);
const SECRET_KEY = Buffer.alloc(32, 7).toString('base64');
/** How long rows wait in the journal before the kill: the engine is stopped meanwhile. */
const STOPPED_MS = 2_000;

const root = mkdtempSync(path.join(tmpdir(), 'underround-kept-'));
try {
  const dataDir = path.join(root, 'data');
  const environment = {
    ...{ PATH: process.env.PATH, UNDERROUND_SECRET_KEY: SECRET_KEY, UNDERROUND_PORT: '0' },
    ...{ UNDERROUND_DISK_RESERVE: '16MiB', UNDERROUND_DATA_DIR: dataDir },
  };
  const key = await recordAndKill(dataDir, environment);
  // Files of one run: sockets, what a full disk would need, and links for a backup.
  for (const name of ['engine.sock', 'private-name', 'shadow'])
    rmSync(path.join(dataDir, name), { force: true });
  removeReserves(dataDir);
  const copy = path.join(root, 'copy');
  cpSync(dataDir, copy, { recursive: true, verbatimSymlinks: true });
  const expected = { commit, ...(await contentOf(copy)), key };
  writeFileSync(path.join(folder, `${commit}.json`), `${JSON.stringify(expected, null, 2)}\n`);
  execFileSync('tar', ['-czf', path.resolve(folder, `${commit}.tar.gz`), '-C', dataDir, '.']);
} finally {
  rmSync(root, { recursive: true, force: true });
}

/** @returns The key of a user. */
async function recordAndKill(dataDir, env) {
  const command = path.join(checkout, 'bin/underround.mjs');
  const words = ['demo', '--data-dir', dataDir, '--hours', '0.1', '--density', '0.001', '--seed', 'fixture'];
  const service = spawn(process.execPath, [command, ...words], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => service.once('exit', resolve));
  let out = '';
  service.stdout.on('data', (chunk) => {
    out += chunk;
  });
  const ready = async () => /ready (http\S+)/.test(out) && /history.*(?:complete|done|recorded)/i.test(out);
  for (let waitedMs = 0; !(await ready()) && waitedMs < 60_000; waitedMs += 100) await sleep(100);
  const words2 = [
    'keys',
    'create',
    '--email',
    'kept@example.com',
    '--tier',
    'premium',
    '--label',
    'kept',
    '--json',
  ];
  const made = execFileSync(process.execPath, [command, ...words2], { env, encoding: 'utf8' });
  const engines = enginesOn(dataDir);
  for (const pid of engines) process.kill(pid, 'SIGSTOP');
  await sleep(STOPPED_MS);
  service.kill('SIGKILL');
  for (const pid of engines) process.kill(pid, 'SIGKILL');
  await ended;
  return JSON.parse(made).key;
}

function enginesOn(dataDir) {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      return words.includes(dataDir) && words.some((word) => word.endsWith('host/main.js'))
        ? [Number(name)]
        : [];
    } catch {
      return [];
    }
  });
}

function removeReserves(dataDir) {
  for (const entry of readdirSync(dataDir, { recursive: true, withFileTypes: true }))
    if (/reserve|spare/i.test(entry.name))
      rmSync(path.join(entry.parentPath, entry.name), { recursive: true });
}

/** What the checkout's own code finds in a directory. */
async function contentOf(dataDir) {
  const load = (module) => import(pathToFileURL(path.resolve(checkout, 'dist', `${module}.js`)).href);
  const [
    { openStore },
    { systemClock: clock },
    { silentLogger: log },
    { Metrics },
    { TABLES },
    { migrationsOf },
  ] = await Promise.all([
    ...['store/store', 'runtime/clock', 'runtime/log', 'runtime/metrics', 'store/tables/schema'].map(load),
    { migrationsOf: (file) => file.prepare('SELECT name FROM kysely_migration ORDER BY name').all() },
  ]);
  const { DatabaseSync } = await import('node:sqlite');
  const file = new DatabaseSync(path.join(dataDir, 'control.sqlite'));
  const migrations = migrationsOf(file).map(({ name }) => name);
  file.close();
  const options = { dataDir, clickhouseUrl: null, diskReserve: { bytes: 2 ** 24 }, clock, log };
  const store = await openStore({ ...options, metrics: new Metrics() });
  await store.writer.flush();
  const waitingRows = store.writer.recovery.recoveredRows;
  const tables = {};
  for (const { name, columns, replacingBy } of Object.values(TABLES)) {
    const names = columns
      .filter((column) => column.defaultExpression === undefined)
      .map((column) => column.name);
    const [found] = await store.rows(
      `SELECT count() AS rows, toString(sum(cityHash64(toString(tuple(${names.join()}))))) AS sum
       FROM ${name} ${replacingBy === null ? '' : 'FINAL'}`,
    );
    tables[name] = { rows: Number(found.rows), sum: found.sum, columns: names };
  }
  await store.close();
  return { migrations, tables, waitingRows };
}
