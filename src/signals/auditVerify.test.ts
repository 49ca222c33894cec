import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { detection } from '../../test/support/detections.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { T0 } from '../../test/support/signalRig.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import type { Database } from '../control/schema.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { entryHash, HEAD_SETTING, readHead } from './auditChain.ts';
import { AuditLog } from './auditLog.ts';
import { verifyAudit } from './auditVerify.ts';

const SIGNALS = 6;
const TABLES = ['audit_entries', 'audit_rows', 'audit_days'] as const;

let db: Database;
beforeEach(async () => {
  db = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  const log = new AuditLog(db, new FakeClock());
  for (let i = 0; i < SIGNALS; i++) {
    const signal = detection({
      marketId: `0x${i}`,
      detectedMs: T0 + i * 40_000_000,
      ticker: i % 2 ? 'ETH' : 'BTC',
    });
    await log.detected(signal);
    if (i % 2 === 0) await log.executable(signal.auditId, [{ afterMs: 50, fillPrice: 0.93, size: 80 }]);
    if (i % 3 === 0) await log.settle({ marketId: `0x${i}`, outcome: 'Up', resolvedTimeMs: T0 + 400_000 }, 1);
  }
});

interface Cell {
  readonly table: string;
  readonly rowid: number;
  readonly column: string;
  readonly value: unknown;
}

/** Every value of every row of the audit. */
async function cells(): Promise<Cell[]> {
  const found: Cell[] = [];
  for (const table of TABLES) {
    const { rows } = await sql<Record<string, unknown>>`SELECT rowid, * FROM ${sql.table(table)}`.execute(db);
    for (const { rowid, ...row } of rows) {
      for (const [column, value] of Object.entries(row)) {
        found.push({ table, rowid: rowid as number, column, value });
      }
    }
  }
  return found;
}

function changed(value: unknown): unknown {
  if (value === null) return 0.25;
  if (typeof value === 'number') return value + 0.5;
  return `${(value as string).slice(0, -1)}~`;
}

/** Runs a function and rolls back its changes. */
async function undone(run: (view: Database) => Promise<void>): Promise<void> {
  const undo = new Error('undo');
  await db
    .transaction()
    .execute(async (view) => {
      await run(view as unknown as Database);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
}

/** Like `verifyAudit`, inside the transaction that is rolled back. */
async function verdictOf(view: Database): Promise<Awaited<ReturnType<typeof verifyAudit>>> {
  const inside = {
    transaction: () => ({
      setIsolationLevel: () => ({ execute: (run: never) => (run as (v: Database) => unknown)(view) }),
    }),
  };
  return await verifyAudit(inside as unknown as Database);
}

test('an untouched audit and an empty one are valid', async () => {
  expect(await verifyAudit(db)).toMatchObject({ ok: true, entries: 11, rows: SIGNALS, fault: null });
  const empty = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  expect(await verifyAudit(empty)).toEqual({
    ok: true,
    entries: 0,
    rows: 0,
    head: '0'.repeat(64),
    fault: null,
  });
});

test('any changed value, in any column of any row, is found', async () => {
  const all = await cells();
  expect(new Set(all.map(({ table, column }) => `${table}.${column}`)).size).toBe(7 + 12 + 10);
  const missed: string[] = [];
  for (const { table, rowid, column, value } of all) {
    await undone(async (view) => {
      const set = sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${changed(value)} WHERE rowid = ${rowid}`;
      await set.execute(view);
      const { ok, fault } = await verdictOf(view);
      if (ok || fault === null) missed.push(`${table}.${column} of ${rowid}`);
    });
  }
  expect(missed).toEqual([]);
});

describe.each(TABLES)('%s', (table) => {
  test('any removed row is found', async () => {
    const rowids = new Set((await cells()).filter((cell) => cell.table === table).map(({ rowid }) => rowid));
    for (const rowid of rowids) {
      await undone(async (view) => {
        await sql`DELETE FROM ${sql.table(table)} WHERE rowid = ${rowid}`.execute(view);
        expect(await verdictOf(view)).toMatchObject({ ok: false });
      });
    }
  });
});

test('an entry removed with its row and sums, even the last one, is found', async () => {
  const signal = detection({ marketId: '0xlast', detectedMs: T0 + 999_000_000 });
  await new AuditLog(db, new FakeClock()).detected(signal);
  await undone(async (view) => {
    await sql`DELETE FROM audit_entries WHERE audit_id = ${signal.auditId}`.execute(view);
    await sql`DELETE FROM audit_rows WHERE audit_id = ${signal.auditId}`.execute(view);
    await sql`DELETE FROM audit_days WHERE first_ms = ${signal.detectedMs}`.execute(view);
    expect(await verdictOf(view)).toMatchObject({
      ok: false,
      fault: { reason: 'the chain ends at 11, but 12 were written' },
    });
  });
});

test('two swapped entries are found, at the first of them', async () => {
  await undone(async (view) => {
    await sql`UPDATE audit_entries SET seq = -1 WHERE seq = 2`.execute(view);
    await sql`UPDATE audit_entries SET seq = 2 WHERE seq = 3`.execute(view);
    await sql`UPDATE audit_entries SET seq = 3 WHERE seq = -1`.execute(view);
    expect(await verdictOf(view)).toMatchObject({ ok: false, fault: { seq: 2 } });
  });
});

test('an inserted entry is found, before the first, in between or at the end', async () => {
  for (const seq of [0, 12, 2.5]) {
    await undone(async (view) => {
      await sql`INSERT INTO audit_entries SELECT ${seq}, audit_id, kind, at_ms, body, 'x', 'y' FROM audit_entries WHERE seq = 1`.execute(
        view,
      );
      expect(await verdictOf(view)).toMatchObject({ ok: false });
    });
  }
});

test('a row that names the wrong previous row is found, even if all hashes were recomputed', async () => {
  await undone(async (view) => {
    const rows = () => view.selectFrom('audit_entries').selectAll().orderBy('seq').execute();
    const last = (await rows()).findLast(({ kind }) => kind === 'detected');
    let prev_hash = last?.prev_hash as string;
    let rowHash = '';
    for (const entry of (await rows()).filter(({ seq }) => seq >= (last?.seq ?? Infinity))) {
      const isLast = entry.seq === last?.seq;
      const body = isLast ? entry.body.replace(/("prevRow":")./, '$1~') : entry.body;
      const made = { ...entry, prev_hash, body };
      prev_hash = entryHash(made);
      if (isLast) rowHash = prev_hash;
      const changes = { ...made, hash: prev_hash };
      await view.updateTable('audit_entries').set(changes).where('seq', '=', entry.seq).execute();
    }
    const { seq } = await readHead(view);
    const value = JSON.stringify({ seq, hash: prev_hash, rowHash });
    await view.updateTable('settings').set({ value }).where('name', '=', HEAD_SETTING).execute();
    expect(await verdictOf(view)).toMatchObject({
      fault: { seq: last?.seq, reason: 'the signal does not follow the one before it' },
    });
  });
});

test('a wrong newest row in the settings is found', async () => {
  await undone(async (view) => {
    const value = JSON.stringify({ ...(await readHead(view)), rowHash: 'f'.repeat(64) });
    await view.updateTable('settings').set({ value }).where('name', '=', HEAD_SETTING).execute();
    expect(await verdictOf(view)).toMatchObject({
      fault: { reason: 'the newest signal is not the one noted as such' },
    });
  });
});

test('a row without an entry is found', async () => {
  await undone(async (view) => {
    await sql`INSERT INTO audit_rows SELECT 'au_x', 99, 'm', tier, ticker, event_type, detected_ms, end_ms, model_ev, NULL, NULL, NULL FROM audit_rows LIMIT 1`.execute(
      view,
    );
    expect(await verdictOf(view)).toMatchObject({
      fault: { auditId: 'au_x', reason: 'a row without an entry' },
    });
  });
});

test('a chain recomputed from a changed entry on is found by a head hash saved before', async () => {
  const { hash } = await readHead(db);
  const other = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  await new AuditLog(other, new FakeClock()).detected(detection({ evPerShare: 0.5 }));
  expect(await verifyAudit(other)).toMatchObject({ ok: true });
  expect(await verifyAudit(other, { knownHash: hash })).toMatchObject({
    ok: false,
    fault: { reason: 'the given head hash is not in the chain' },
  });
  expect(await verifyAudit(db, { knownHash: hash })).toMatchObject({ ok: true });
});
