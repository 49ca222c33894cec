/** What `underround doctor` examines besides the venues' formats: this machine, its configuration and its data. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, readlink, stat } from 'node:fs/promises';
import { request as requestHttp } from 'node:http';
import { join } from 'node:path';
import { RETAINED_DATASETS } from '../config/values.ts';
import type { Config } from '../config.ts';
import { backupWarning, readBackupRecord } from '../ops/backupRecord.ts';
import { MIB } from '../runtime/byteUnits.ts';
import type { Clock } from '../runtime/clock.ts';
import { formatTime } from '../schema/time.ts';
import { API_VERSION } from '../schema/version.ts';
import { readDiskSpace, reserveBytes } from '../store/engine/diskGuard.ts';
import { endHolder, engineHolder } from '../store/engine/engineHolder.ts';
import { engineLibraryProblem } from '../store/engine/engineLibrary.ts';
import { socketPath } from '../store/engine/paths.ts';
import { otherWriter } from '../store/journal/runDirectory.ts';
import { type DatasetDay, forecastDisk } from '../store/retention/removals.ts';
import { DATABASE } from '../store/tables/schema.ts';
import type { DoctorCheck } from './doctorCheck.ts';
import { portChecks } from './doctorPort.ts';

/** The service needs sockets for streams and files for parts. */
const DESCRIPTORS_MIN = 4_096;
const ANSWER_LIMIT_MS = 5_000;
/** A disk that is full sooner than this needs attention. */
const FULL_SOON_MS = 30 * 86_400_000;
const PART_NAME = /^(\d{4})(\d\d)(\d\d)_\d+_\d+_\d+/;

/** Reads files of the data directory and asks the running engine; writes nothing. */
export async function localChecks(config: Config, clock: Clock): Promise<DoctorCheck[]> {
  const { dataDir } = config;
  const pid = await otherWriter(join(dataDir, 'journal'), 'main').catch(() => null);
  return [
    await versionCheck(config),
    lockCheck(pid),
    await engineCheck(config, pid),
    await diskCheck(config, clock),
    ...(await datasetChecks(dataDir)),
    descriptorCheck(pid),
    ...(await portChecks(config, pid)),
    credentialCheck(config),
    proxyCheck(config),
    await backupCheck(config, clock),
  ];
}

async function versionCheck({ clickhouseUrl }: Config): Promise<DoctorCheck> {
  const [problem] = clickhouseUrl === null ? await engineLibraryProblem() : [];
  const finding = `release ${API_VERSION} on Node ${process.versions.node}`;
  if (problem === undefined) return { check: 'versions', state: 'ok', finding, next: null };
  return { check: 'versions', state: 'fail', finding, next: problem };
}

function lockCheck(pid: number | null): DoctorCheck {
  const finding = pid === null ? 'no service records into the data directory' : `process ${pid} records`;
  return { check: 'lock', state: 'ok', finding, next: null };
}

async function engineCheck({ dataDir, clickhouseUrl }: Config, pid: number | null): Promise<DoctorCheck> {
  const check = 'engine';
  if (clickhouseUrl !== null)
    return {
      check,
      state: 'ok',
      finding: 'the server of CLICKHOUSE_URL; /readyz shows whether it answers',
      next: null,
    };
  if (await pingEngine(dataDir))
    return { check, state: 'ok', finding: 'the embedded engine answers', next: null };
  const holder = await engineHolder(dataDir);
  if (holder !== null)
    return {
      check,
      state: 'fail',
      finding: `process ${holder} is the embedded engine and does not answer`,
      next: endHolder(holder),
    };
  if (pid === null) return { check, state: 'ok', finding: 'the embedded engine is not running', next: null };
  const next = 'read the lines store.engine.died and store.engine.start_retried of the service’s log';
  return { check, state: 'fail', finding: 'the embedded engine does not answer', next };
}

function pingEngine(dataDir: string): Promise<boolean> {
  return new Promise((resolve) => {
    const place = { socketPath: socketPath(dataDir), path: '/ping', timeout: ANSWER_LIMIT_MS };
    const ping = requestHttp(place, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    ping.once('timeout', () => ping.destroy(new Error('no answer')));
    ping.once('error', () => resolve(false));
    ping.end();
  });
}

async function diskCheck({ dataDir, diskReserve }: Config, clock: Clock): Promise<DoctorCheck> {
  const space = await readDiskSpace(dataDir);
  const freeBytes = space.freeBytes - reserveBytes(diskReserve, space.totalBytes);
  const nowMs = clock.now();
  const { bytesPerDay, fullAtMs } = forecastDisk(await datasetDays(dataDir), { freeBytes, nowMs });
  const growth =
    bytesPerDay === null
      ? 'growth is unknown before the first complete day'
      : `${mib(bytesPerDay)} a day${fullAtMs === null ? '' : `, full on ${formatTime(fullAtMs).slice(0, 10)}`}`;
  const finding = `${mib(Math.max(0, freeBytes))} free beyond the reserve; ${growth}`;
  const next = 'add space, or set UNDERROUND_RETENTION or UNDERROUND_DISK_BUDGET (docs/STORE.md)';
  if (freeBytes <= 0) return { check: 'disk', state: 'fail', finding, next };
  const isSoon = fullAtMs !== null && fullAtMs < nowMs + FULL_SOON_MS;
  return { check: 'disk', state: isSoon ? 'warn' : 'ok', finding, next: isSoon ? next : null };
}

async function datasetChecks(dataDir: string): Promise<DoctorCheck[]> {
  const days = await datasetDays(dataDir);
  return RETAINED_DATASETS.flatMap((table) => {
    const own = days.filter((one) => one.table === table).sort((a, b) => (a.day < b.day ? -1 : 1));
    if (own.length === 0) return [];
    const bytes = own.reduce((sum, one) => sum + one.bytes, 0);
    const finding = `${mib(bytes)}, from ${own[0]?.day} to ${own.at(-1)?.day}`;
    return [{ check: `dataset ${table}`, state: 'ok' as const, finding, next: null }];
  });
}

/** Sizes by table and day, from the directories of the engine's parts; empty without an embedded engine. */
async function datasetDays(dataDir: string): Promise<DatasetDay[]> {
  const links = join(dataDir, 'engine', 'data', DATABASE);
  const bytesOf = new Map<string, DatasetDay>();
  for (const table of RETAINED_DATASETS) {
    const target = await readlink(join(links, table)).catch(() => null);
    if (target === null) continue;
    const directory = join(links, target);
    for (const part of await readdir(directory).catch(() => [])) {
      const [, year, month, date] = PART_NAME.exec(part) ?? [];
      if (year === undefined) continue;
      const day = `${year}-${month}-${date}`;
      const before = bytesOf.get(table + day)?.bytes ?? 0;
      bytesOf.set(table + day, { table, day, bytes: before + (await directoryBytes(join(directory, part))) });
    }
  }
  return [...bytesOf.values()];
}

/** A part may be merged and removed meanwhile. */
async function directoryBytes(directory: string): Promise<number> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile());
  const sizes = files.map((file) => stat(join(file.parentPath, file.name)).catch(() => null));
  return (await Promise.all(sizes)).reduce((sum, found) => sum + (found?.size ?? 0), 0);
}

function descriptorCheck(pid: number | null): DoctorCheck {
  const check = 'descriptors';
  const place = `/proc/${pid ?? 'self'}`;
  if (!existsSync(`${place}/limits`))
    return { check, state: 'ok', finding: 'this system does not report them', next: null };
  try {
    const limit = Number(
      /^Max open files\s+(\d+)/m.exec(readFileSync(`${place}/limits`, 'utf8'))?.[1] ?? Infinity,
    );
    const open = readdirSync(`${place}/fd`).length;
    const finding = pid === null ? `a process may open ${limit} files` : `${open} of ${limit} files are open`;
    const isFew = limit < DESCRIPTORS_MIN || open > limit * 0.8;
    const next = isFew ? 'raise the limit: LimitNOFILE= of the systemd unit, or ulimit -n' : null;
    return { check, state: isFew ? 'warn' : 'ok', finding, next };
  } catch (error) {
    return { check, state: 'ok', finding: `cannot be read: ${(error as Error).message}`, next: null };
  }
}

function credentialCheck({ polymarketCredentials }: Config): DoctorCheck {
  const finding =
    polymarketCredentials === null
      ? 'none for Polymarket: PolyBolt is not opened'
      : 'all three for Polymarket are set';
  return { check: 'credentials', state: 'ok', finding, next: null };
}

function proxyCheck({ trustProxy, publicHosts }: Config): DoctorCheck {
  const check = 'proxy';
  const finding =
    trustProxy === null
      ? 'X-Forwarded-* is trusted from no proxy'
      : `X-Forwarded-* is trusted from ${trustProxy}`;
  if (trustProxy === null || publicHosts.length > 0) return { check, state: 'ok', finding, next: null };
  return { check, state: 'warn', finding, next: 'set UNDERROUND_PUBLIC_HOST to the name that clients use' };
}

async function backupCheck({ dataDir, backupMaxAgeDays }: Config, clock: Clock): Promise<DoctorCheck> {
  const check = 'backup';
  const record = await readBackupRecord(dataDir);
  const warning = backupWarning(record, { maxAgeDays: backupMaxAgeDays, nowMs: clock.now() });
  const { written, proven } = record;
  const last =
    written === null ? 'none was written' : `written ${formatTime(written.time_ms)} to ${written.place}`;
  const checked = proven === null ? 'none was proven' : `proven ${formatTime(proven.time_ms)}`;
  const finding = warning ?? `${last}; ${checked}`;
  const next = warning === null ? null : 'run `underround backup PLACE --verify` (docs/BACKUP.md)';
  return { check, state: warning === null ? 'ok' : 'warn', finding, next };
}

function mib(bytes: number): string {
  return `${(bytes / MIB).toFixed(1)} MiB`;
}
