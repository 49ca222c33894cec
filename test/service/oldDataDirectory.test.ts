import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatTime } from '../../src/schema/time.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { KEPT_SECRET_KEY, keptDataDirectory } from '../support/dataDirectories.ts';
import { startCommand } from '../support/runningService.ts';
import { openTestStore } from '../support/store.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';

const FOLDER = join(import.meta.dirname, '../fixtures/dataDirectory');
/** Every kept directory; the README.md beside them describes how each was made. */
const COMMITS = readdirSync(FOLDER).flatMap((name) => /^(\w+)\.tar\.gz$/.exec(name)?.[1] ?? []);

interface ExpectedTable {
  readonly rows: number;
  readonly sum: string;
  /** Columns of that release; later ones are not compared. */
  readonly columns: readonly string[];
}

interface Expected {
  /** Row count of each table, including rows waiting in the journal, and the sum of their hashes. */
  readonly tables: Readonly<Record<string, ExpectedTable>>;
  readonly waitingRows: number;
  readonly key: readonly [string, string];
  readonly demoKey: readonly [string, string];
  readonly keyId: string;
  readonly webhookId: string;
  readonly strategyId: string;
  readonly position: { readonly position_id: string };
  readonly job: { readonly job_id: string; readonly status: string; readonly result: object };
  readonly auditRows: readonly { readonly audit_id: string; readonly hash: string }[];
}

const expectedOf = <T = Expected>(commit: string) =>
  JSON.parse(readFileSync(join(FOLDER, `${commit}.json`), 'utf8')) as T;

describe('a data directory of an earlier release', () => {
  it.each(COMMITS)('of commit %s keeps every row, including those waiting in the journal', async (commit) => {
    const expected = expectedOf<Pick<Expected, 'tables'>>(commit);
    const { store, dispose } = await openTestStore({ dataDir: keptDataDirectory(commit) });
    await store.writer.flush();
    const found: Record<string, unknown> = {};
    for (const [table, { columns }] of Object.entries(expected.tables)) {
      const final = table === 'markets' || table === 'gaps' ? 'FINAL' : '';
      const [row] = await store.rows<object>(
        `SELECT count() AS rows, toString(sum(cityHash64(toString(tuple(${columns.join()}))))) AS sum
         FROM ${table} ${final}`,
      );
      found[table] = { ...row, columns };
    }
    expect(found).toEqual(expected.tables);
    await dispose();
  });

  it.skipIf(commandAbsent)('serves its key, job, strategy and webhook, and a valid audit chain', async () => {
    const expected = expectedOf('187b58b');
    const dataDir = keptDataDirectory('187b58b');
    const environment = {
      UNDERROUND_DATA_DIR: dataDir,
      UNDERROUND_SECRET_KEY: KEPT_SECRET_KEY,
      UNDERROUND_RATE_LIMITS: 'off',
      ...VENUES_OFF,
    };
    const audit = JSON.parse(await underround(['audit', 'verify', '--json'], environment));
    expect(audit).toMatchObject({ ok: true, rows: expected.auditRows.length, fault: null });

    const service = await startCommand(['serve'], environment);
    const get = async (path: string, key: readonly string[] = expected.demoKey) => {
      const answer = await fetch(service.url + path, {
        headers: { authorization: `Bearer ${key.join('')}` },
      });
      return {
        status: answer.status,
        body: (await answer.json()) as { rows: { hash: string }[]; positions: object[]; total: number },
      };
    };
    expect((await get('/v1/markets?limit=1', expected.key)).status).toBe(200);
    // That release recorded depth of Bybit alone and stored no venue.
    const depthRows = async () => {
      const depths = ['BTC', 'ETH', 'SOL'].map((ticker) => get(`/v1/perp/depth?ticker=${ticker}&limit=0`));
      return (await Promise.all(depths)).reduce((sum, { body }) => sum + body.total, 0);
    };
    // Rows that wait in the journal are stored after the start.
    await expect.poll(depthRows).toBe(expected.tables.perp_depth?.rows);
    const job = await get(`/v1/backtest/${expected.job.job_id}`);
    expect(job.body).toMatchObject({ status: 'complete', result: expected.job.result });
    // The job was stored before requests were kept in its answer.
    expect(job.body).toMatchObject({
      request: { end: expect.any(String), market_limit: expect.any(Number) },
    });
    const positions = await get(`/v1/paper/strategies/${expected.strategyId}/positions`);
    expect(positions.body.positions).toMatchObject([{ position_id: expected.position.position_id }]);
    const { body } = await get(`/v1/arb/audit?limit=100&until=${encodeURIComponent(formatTime(4e12))}`);
    const hashes = body.rows.map(({ hash }) => hash);
    expect(hashes).toEqual(expected.auditRows.map(({ hash }) => hash));
    const webhooks = JSON.parse(await underround(['webhooks', 'list', '--json'], environment));
    expect(JSON.stringify(webhooks)).toContain(expected.webhookId);
    expect(await service.stop()).toBe(0);
  });

  it.skipIf(commandAbsent)('of commit ac650ff is migrated by the command, and serves its key', async () => {
    const expected = expectedOf<{ key: string; migrations: string[] }>('ac650ff');
    const dataDir = keptDataDirectory('ac650ff');
    const environment = {
      ...{ UNDERROUND_DATA_DIR: dataDir, UNDERROUND_SECRET_KEY: KEPT_SECRET_KEY },
      ...{ UNDERROUND_RATE_LIMITS: 'off', ...VENUES_OFF },
    };
    const plan = JSON.parse(await underround(['migrate', '--dry-run', '--json'], environment));
    expect(plan).toMatchObject({ applied: false, control: { kind: 'sqlite', applied: expected.migrations } });
    const done = JSON.parse(await underround(['migrate', '--json'], environment));
    expect(done).toEqual({ ...plan, applied: true });
    const after = JSON.parse(await underround(['migrate', '--dry-run', '--json'], environment));
    expect([after.control.pending, after.store.pending]).toEqual([[], []]);
    const service = await startCommand(['serve'], environment);
    const answer = await fetch(`${service.url}/v1/markets?limit=1`, {
      headers: { authorization: `Bearer ${expected.key}` },
    });
    expect(answer.status).toBe(200);
    expect(await service.stop()).toBe(0);
  });
});
