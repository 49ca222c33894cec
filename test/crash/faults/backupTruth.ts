/** Backs up a service that records at the real venue's rate, restores the backup, and compares all rows up to its mark. */
import { join } from 'node:path';
import { DirectoryStorage } from '../../../src/backup/directoryStorage.ts';
import { readManifest } from '../../../src/backup/manifest.ts';
import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';
import { silentLogger as log } from '../../../src/runtime/log.ts';
import { Metrics } from '../../../src/runtime/metrics.ts';
import { openStore, type Store } from '../../../src/store/store.ts';
import { TABLES, type Table, writtenColumns } from '../../../src/store/tables/schema.ts';
import type { CopyRoundsResult } from './backupRounds.ts';
import { type FaultOptions, FaultRig } from './faultRig.ts';
import { runCommand } from './killedCommand.ts';
import type { ServiceProcess } from './serviceProcess.ts';

/** How long the service records before each backup. */
const RECORDED_MS = 10_000;
const FRAMES = /^underround_venue_frames_total(?:\{[^}]*\})? (\d+)/gm;

export function runBackupTruth(options: FaultOptions): Promise<CopyRoundsResult> {
  return FaultRig.with(options, async (rig) => {
    const service = await rig.service(rig.temporaryDirectory());
    await rig.start(service);
    const places: string[] = [];
    let [commandsFailed, framesPerSecond] = [0, 0];
    for (let round = 1; round <= options.rounds; round++) {
      await sleep(clock, RECORDED_MS);
      const place = rig.temporaryDirectory();
      places.push(place);
      const before = { frames: await framesOf(service), atMs: clock.monotonic() };
      if (!(await runCommand(['backup', place, '--data-dir', service.dataDir], null)).ok) commandsFailed++;
      const seconds = (clock.monotonic() - before.atMs) / 1_000;
      framesPerSecond = Math.round(((await framesOf(service)) - before.frames) / seconds);
      rig.say(`${round} of ${options.rounds} backups, at ${framesPerSecond} frames/s`);
    }
    await service.end('SIGTERM');
    const truth = await open(service.dataDir);
    rig.whenOver(() => truth.close());
    let [differing, rows] = [0, 0];
    for (const place of places) {
      const target = join(rig.temporaryDirectory(), 'restored');
      if (!(await runCommand(['restore', place, '--data-dir', target], null)).ok) commandsFailed++;
      const { mark } = await readManifest(new DirectoryStorage(place), null);
      const copy = await open(target);
      for (const table of Object.values(TABLES)) {
        const restored = await digest(copy, table, Number.MAX_SAFE_INTEGER);
        rows += restored.rows;
        const isEqual =
          table.replacingBy === null
            ? same(restored, await digest(truth, table, mark.seq ?? 0))
            : await isEarlierState(copy, truth, { table, seq: mark.seq ?? 0 });
        if (!isEqual) differing++;
      }
      await copy.close();
    }
    return { between: 0, differing, rows, framesPerSecond, commandsFailed, startsFailed: rig.startsFailed };
  });
}

async function framesOf(service: ServiceProcess): Promise<number> {
  // A starved service may answer late.
  let { status, body } = await service.get('/metrics');
  while (status !== 200 && service.isRunning) ({ status, body } = await service.get('/metrics'));
  return [...body.matchAll(FRAMES)].reduce((sum, [, count]) => sum + Number(count), 0);
}

async function open(dataDir: string): Promise<Store> {
  const diskReserve = { bytes: 16 * 1024 * 1024 };
  const options = { dataDir, clickhouseUrl: null, diskReserve, clock, log, metrics: new Metrics() };
  const store = await openStore(options);
  await store.writer.flush();
  return store;
}

interface Digest {
  readonly rows: number;
  readonly sum: string;
}

/** Rows of a table up to a seq: their number, and a sum that differs where a row does. */
async function digest(store: Store, table: Table, seq: number): Promise<Digest> {
  const names = writtenColumns(table).map(({ name }) => name);
  const [found] = await store.rows<Digest>(
    `SELECT count() AS rows, toString(sum(cityHash64(toString(tuple(${names.join()}))))) AS sum
     FROM ${table.name} WHERE seq <= {seq:UInt64}`,
    { seq },
  );
  return { rows: Number(found?.rows), sum: String(found?.sum) };
}

function same(a: Digest, b: Digest): boolean {
  return a.rows === b.rows && a.sum === b.sum;
}

/**
 * Whether no restored row is newer than the mark, and each key whose newest row is not newer than it has that row: of the
 * other keys the truth has only the later row.
 */
async function isEarlierState(
  copy: Store,
  truth: Store,
  { table, seq }: { table: Table; seq: number },
): Promise<boolean> {
  const names = writtenColumns(table).map(({ name }) => name);
  const rowsOf = async (store: Store) =>
    new Map(
      (
        await store.rows<{ key: string; seq: number; hash: string }>(
          `SELECT toString(tuple(${table.orderBy.join()})) AS key, seq,
             toString(cityHash64(toString(tuple(${names.join()})))) AS hash FROM ${table.name} FINAL`,
        )
      ).map((row) => [row.key, { seq: Number(row.seq), hash: row.hash }]),
    );
  const [restored, whole] = [await rowsOf(copy), await rowsOf(truth)];
  const isKnown = [...restored.values()].every((row) => row.seq <= seq);
  return isKnown && [...whole].every(([key, row]) => row.seq > seq || restored.get(key)?.hash === row.hash);
}
