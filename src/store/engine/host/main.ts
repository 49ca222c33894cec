/**
 * The engine's host process: chDB on one data directory, served on a Unix socket with the interface of a ClickHouse
 * server. Usage: `main.js --data-dir DIR --socket PATH [--log-level L] [--memory-mib N] [--keep-free BYTES] [--listen-host
 * ADDRESS --listen-port PORT]`. With an address it also listens there, for other processes that send the password in
 * the variable `UNDERROUND_STORE_PASSWORD`.
 *
 * On standard output it prints the line `listening PORT` where it listens, then the line `ready`, then a line `refused`
 * for each request without the password. It ends when its standard input closes: the parent holds the other
 * end, so the host ends with the parent even after a kill. It finishes running requests first: exiting during an insert
 * crashes the engine.
 */
import { chmod, mkdir, rmdir, unlink } from 'node:fs/promises';
import type { AddressInfo, ListenOptions } from 'node:net';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drainPending, Session } from 'chdb';
import { systemClock } from '../../../runtime/clock.ts';
import { createLogger } from '../../../runtime/log.ts';
import { OWNER_ONLY_UMASK } from '../ownerOnly.ts';
import { outsideSocketDirectory, prepareSocketDirectory, spoolDirs } from '../paths.ts';
import { Engine } from './engine.ts';
import { writeEngineConfig } from './engineConfig.ts';
import { Login } from './login.ts';
import { LossLedger } from './lossLedger.ts';
import { repairMetadata } from './metadataRepair.ts';
import { PartKeeper } from './partKeeper.ts';
import { PartRepair } from './partRepair.ts';
import { createEngineHostServer, type HostServer } from './server.ts';
import { SessionPool } from './sessionPool.ts';
import { Spool } from './spool.ts';

/** Requests that still run this long after the parent ended are abandoned. */
const DRAIN_LIMIT_MS = 10_000;
/** Parameters become part of a statement here; a URL may carry a mebibyte of them, and escaping can double that. */
const MAX_STATEMENT_BYTES = 4 * 1024 * 1024;
/** Longest run time of any statement: the last resort against one whose caller has left. */
const EXECUTION_SECONDS_MAX = 3_600;
/** Answers are spooled only while this many times the engine's minimum is free: twice the disk guard's reserve. */
const SPOOL_KEEPS = 4;

const { values } = parseArgs({
  options: {
    'data-dir': { type: 'string' },
    socket: { type: 'string' },
    'log-level': { type: 'string', default: 'info' },
    'memory-mib': { type: 'string', default: '2048' },
    'keep-free': { type: 'string', default: '0' },
    'listen-host': { type: 'string' },
    'listen-port': { type: 'string', default: '0' },
  },
});

async function main(dataDir: string, socket: string): Promise<void> {
  process.umask(OWNER_ONLY_UMASK);
  const log = createLogger(values['log-level']).child({ part: 'store.host' });
  const engineDir = join(dataDir, 'engine');
  await mkdir(engineDir, { recursive: true, mode: 0o700 });
  const configFile = join(dataDir, 'engine.xml');
  const limits = { memoryMib: Number(values['memory-mib']), keepFreeBytes: Number(values['keep-free']) };
  await writeEngineConfig(configFile, limits, log);
  await repairMetadata(engineDir, log);
  const connectionArgs = [
    `--config-file=${configFile}`,
    `--max_query_size=${MAX_STATEMENT_BYTES}`,
    `--max_execution_time=${EXECUTION_SECONDS_MAX}`,
  ];
  // Throws when another process holds the directory's lock.
  const pool = new SessionPool(() => new Session(engineDir, { connectionArgs }));
  const keepFreeBytes = limits.keepFreeBytes * SPOOL_KEEPS;
  const spool = await Spool.open(spoolDirs(dataDir), { log, keepFreeBytes });
  const engine = new Engine({ pool, spool, log, clock: systemClock });
  const ledger = await LossLedger.open(dataDir, log);
  const repair = new PartRepair({ queries: engine, ledger, clock: systemClock, log });
  const keeper = new PartKeeper({ repair, ledger, log, startedMs: systemClock.now() });
  await keeper.start();
  engine.onReadFailure = (error) => keeper.relieve(error);
  const knownSettings = new Set((await engine.text('SELECT name FROM system.settings')).split('\n'));
  const parts = { engine, keeper, knownSettings, log };
  const local = createEngineHostServer({ ...parts, login: null });
  const shared =
    values['listen-host'] === undefined ? null : createEngineHostServer({ ...parts, login: passwordLogin() });

  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    systemClock.after(DRAIN_LIMIT_MS, () => {
      log.error({ limitMs: DRAIN_LIMIT_MS }, 'store.host.drain_timeout');
      process.exit(1);
    });
    // The socket is removed first, so that no new client finds a host that is shutting down.
    await unlink(socket).catch(() => undefined);
    const outside = outsideSocketDirectory(dataDir, socket);
    if (outside !== null) await rmdir(outside).catch(() => undefined);
    await Promise.all([local.drain(), shared?.drain()]);
    await drainPending();
    pool.close();
    await spool.close();
    process.exit(0);
  };
  process.stdin.on('close', stop).on('end', stop).on('error', stop).resume();
  // Ctrl-C and a supervisor's stop signal reach the whole process group, but the parent still has rows to insert. The
  // parent decides when the store ends, by closing the pipe.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined);

  prepareSocketDirectory(dataDir, socket);
  // This process holds the engine's lock, so an existing socket belongs to no process.
  await unlink(socket).catch(() => undefined);
  await listening(local, { path: socket });
  await chmod(socket, 0o600);
  if (shared !== null) {
    await listening(shared, { host: values['listen-host'], port: Number(values['listen-port']) });
    process.stdout.write(`listening ${(shared.server.address() as AddressInfo).port}\n`);
  }
  log.info({ dataDir, socket, pid: process.pid }, 'store.host.ready');
  process.stdout.write('ready\n');
}

/** @throws {Error} Without a password. */
function passwordLogin(): Login {
  const password = process.env.UNDERROUND_STORE_PASSWORD ?? '';
  if (password === '') throw new Error('UNDERROUND_STORE_PASSWORD is missing');
  return new Login({ password, onRefused: () => process.stdout.write('refused\n') });
}

function listening({ server }: HostServer, options: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => server.once('error', reject).listen(options, resolve));
}

if (!values['data-dir'] || !values.socket) {
  process.stderr.write('usage: main.js --data-dir DIR --socket PATH\n');
  process.exit(2);
}
main(values['data-dir'], values.socket).catch((error: unknown) => {
  process.stderr.write(`${JSON.stringify({ level: 'error', part: 'store.host', msg: String(error) })}\n`);
  process.exit(1);
});
