/** Kills `underround migrate` at random moments, each time on a copy of a data directory of an earlier release. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrationsIn } from '../../../src/control/appliedMigrations.ts';
import { CONTROL_MIGRATION_NAMES } from '../../../src/control/migrationNames.ts';
import { Random } from '../../../src/core/random.ts';
import { systemClock as clock, sleep } from '../../../src/runtime/clock.ts';
import { silentLogger as log } from '../../../src/runtime/log.ts';
import { Metrics } from '../../../src/runtime/metrics.ts';
import { storedSchema } from '../../../src/store/engine/storedSchema.ts';
import { openStore } from '../../../src/store/store.ts';
import { FoundObjects } from '../../../src/store/tables/foundObjects.ts';
import { STORE_VERSION } from '../../../src/store/tables/migrations.ts';
import { EMBEDDED_FORM, schemaStages } from '../../../src/store/tables/statements.ts';
import type { CopyRoundsResult } from './backupRounds.ts';
import { runCommand } from './killedCommand.ts';

const FIXTURE = join(process.cwd(), 'test/fixtures/dataDirectory/187b58b');
/** Half of the kills fall anywhere in the command's time, the others when a random migration has just been applied. */
const BEYOND_END = 1.1;
const POLL_MS = 1;
const AFTER_MS_MAX = 20;
/** After this many kills the migration is finished, and all rows are compared. */
const FINISHED_EVERY_ROUNDS = 5;

interface ExpectedTables {
  readonly tables: Readonly<
    Record<string, { readonly rows: number; readonly sum: string; readonly columns: readonly string[] }>
  >;
}

/** The numbers at which the two databases of a data directory are. */
interface State {
  readonly applied: readonly string[];
  readonly recorded: number | null;
  readonly complete: number;
  /** Migrations of the store that are not complete. */
  readonly due: number;
}

export async function runMigrationRounds(options: {
  readonly rounds: number;
  readonly seed: string;
  readonly progress: (line: string) => void;
}): Promise<CopyRoundsResult> {
  const random = new Random(`crash/${options.seed}`);
  const first = await undisturbed();
  const counts = {
    between: first.between,
    commandsFailed: first.failed,
    startsFailed: 0,
    missing: first.missing,
  };
  const states = { unchanged: 0, partway: 0, finished: 0 };
  for (let round = 1; round <= options.rounds; round++) {
    await onCopy(async (dataDir, old) => {
      const target = random.uniform(old.complete, STORE_VERSION + 1);
      const afterMs = random.uniform(0, AFTER_MS_MAX);
      const atMs = random.uniform(0, first.durationMs * BEYOND_END);
      const isTimed = random.chance(0.5);
      await runCommand(['migrate', '--data-dir', dataDir], (ended) =>
        isTimed ? sleep(clock, atMs) : whenAt(dataDir, { target, afterMs, ended }),
      );
      await engineEnded(dataDir);
      const state = stateOf(dataDir);
      if (!isWhole(state, old)) counts.between++;
      states[placeOf(state, old)]++;
      if (round % FINISHED_EVERY_ROUNDS !== 0 && round !== options.rounds) return;
      const { ok } = await runCommand(['migrate', '--data-dir', dataDir], null);
      if (!ok) counts.commandsFailed++;
      if (placeOf(stateOf(dataDir), old) !== 'finished') counts.between++;
      counts.missing += await tablesThatDiffer(dataDir);
      options.progress(`${round} of ${options.rounds} kills: ${JSON.stringify({ ...states, ...counts })}`);
    });
  }
  return { ...counts, ...states };
}

async function undisturbed() {
  return await onCopy(async (dataDir, old) => {
    const { ok, durationMs } = await runCommand(['migrate', '--data-dir', dataDir], null);
    const between = placeOf(stateOf(dataDir), old) === 'finished' ? 0 : 1;
    return { failed: ok ? 0 : 1, durationMs, between, missing: await tablesThatDiffer(dataDir) };
  });
}

async function onCopy<T>(work: (dataDir: string, old: State) => Promise<T>): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), 'underround-fault-'));
  try {
    execFileSync('tar', ['-xzf', `${FIXTURE}.tar.gz`, '-C', dataDir]);
    return await work(dataDir, stateOf(dataDir));
  } finally {
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 30, retryDelay: 100 });
  }
}

function stateOf(dataDir: string): State {
  const objects = storedSchema(dataDir);
  const found = new FoundObjects(objects);
  const due = schemaStages(EMBEDDED_FORM, objects).length;
  const complete = found.completeVersion((table) => table) ?? 0;
  return {
    applied: migrationsIn(join(dataDir, 'control.sqlite')),
    recorded: found.recordedVersion,
    complete,
    due,
  };
}

/** Whether both databases are exactly at a number, and the recorded version is the old or the new one. */
function isWhole({ applied, recorded, complete, due }: State, old: State): boolean {
  const isControlWhole = [old.applied, CONTROL_MIGRATION_NAMES].some(
    (list) => list.join() === applied.join(),
  );
  const isRecordedWhole =
    recorded === old.recorded ||
    recorded === old.complete ||
    (recorded === STORE_VERSION && complete === STORE_VERSION);
  return isControlWhole && isRecordedWhole && complete + due === STORE_VERSION;
}

function placeOf({ applied, recorded, complete }: State, old: State): 'unchanged' | 'partway' | 'finished' {
  if (recorded === STORE_VERSION && applied.length === CONTROL_MIGRATION_NAMES.length) return 'finished';
  const isOld = complete === old.complete && applied.length === old.applied.length;
  return isOld ? 'unchanged' : 'partway';
}

/** Resolves a moment after the store has reached a version; a file that is being replaced is read again. */
async function whenAt(
  dataDir: string,
  { target, afterMs, ended }: { target: number; afterMs: number; ended: Promise<unknown> },
): Promise<void> {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  const versionNow = () => {
    try {
      return new FoundObjects(storedSchema(dataDir)).completeVersion((table) => table) ?? 0;
    } catch {
      return 0;
    }
  };
  while (!isOver && versionNow() < Math.min(STORE_VERSION, Math.floor(target))) await sleep(clock, POLL_MS);
  await sleep(clock, afterMs);
}

/** The engine of a killed command ends by itself. */
async function engineEnded(dataDir: string): Promise<void> {
  while (processesOn(dataDir).length > 0) await sleep(clock, 20);
}

function processesOn(dataDir: string): string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return (
        /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(dataDir)
      );
    } catch {
      // It ended while the list was read.
      return false;
    }
  });
}

/** Number of tables whose rows, those of the journal included, are not the recorded ones. */
async function tablesThatDiffer(dataDir: string): Promise<number> {
  const expected = JSON.parse(readFileSync(`${FIXTURE}.json`, 'utf8')) as ExpectedTables;
  const diskReserve = { bytes: 16 * 1024 * 1024 };
  const store = await openStore({
    dataDir,
    clickhouseUrl: null,
    diskReserve,
    clock,
    log,
    metrics: new Metrics(),
  });
  try {
    await store.writer.flush();
    let differing = 0;
    for (const [table, { rows, sum, columns }] of Object.entries(expected.tables)) {
      const final = table === 'markets' || table === 'gaps' ? 'FINAL' : '';
      const [found] = await store.rows<{ rows: number; sum: string }>(
        `SELECT count() AS rows, toString(sum(cityHash64(toString(tuple(${columns.join()}))))) AS sum
         FROM ${table} ${final}`,
      );
      if (Number(found?.rows) !== rows || found?.sum !== sum) differing++;
    }
    return differing;
  } finally {
    await store.close();
  }
}
