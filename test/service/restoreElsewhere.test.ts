import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { underround } from '../support/builtCommand.ts';
import { clusterAbsent } from '../support/cluster.ts';
import { KEPT_SECRET_KEY, keptDataDirectory } from '../support/dataDirectories.ts';
import { startNats } from '../support/natsServer.ts';
import { openTestPostgres } from '../support/postgres.ts';
import { eventually, startCommand } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { VENUES_OFF } from '../support/venuesOff.ts';

const postgres = await openTestPostgres();
const FIXTURE = join(import.meta.dirname, '../fixtures/dataDirectory/187b58b.json');

interface Expected {
  readonly key: readonly [string, string];
  readonly demoKey: readonly [string, string];
  readonly job: { readonly job_id: string; readonly result: object };
  readonly tables: Readonly<Record<string, { readonly rows: number }>>;
}

it.skipIf(clusterAbsent)(
  'a backup of one process of an earlier release is restored for a cluster of roles',
  async () => {
    const expected = JSON.parse(readFileSync(FIXTURE, 'utf8')) as Expected;
    const secret = { UNDERROUND_SECRET_KEY: KEPT_SECRET_KEY, UNDERROUND_DISK_RESERVE: '16MiB' };
    const place = join(temporaryDirectory(), 'backups');
    const old = keptDataDirectory('187b58b');
    const backup = JSON.parse(await underround(['backup', place, '--data-dir', old, '--json'], secret));
    expect(backup).toMatchObject({ engine: 'embedded', control: 'sqlite' });
    const drill = JSON.parse(await underround(['restore', '--check', place, '--json'], secret));
    for (const table of ['books', 'quotes', 'trades', 'underlying', 'perp_depth'])
      expect([table, drill.rows[table]]).toEqual([table, expected.tables[table]?.rows]);

    const DATABASE_URL = await postgres.createDatabase();
    const restored = join(temporaryDirectory(), 'restored');
    await underround(['restore', place, '--data-dir', restored], { ...secret, DATABASE_URL });
    const password = randomBytes(12).toString('hex');
    const store = await startCommand(['store', '--listen', '127.0.0.1:0', '--data-dir', restored], {
      UNDERROUND_STORE_PASSWORD: password,
    });
    const nats = await startNats({ whenOver: onTestFinished });
    const cluster = {
      ...secret,
      ...{ DATABASE_URL, NATS_URL: nats.url, UNDERROUND_RATE_LIMITS: 'off', ...VENUES_OFF },
      CLICKHOUSE_URL: store.url.replace('http://', `http://underround:${password}@`),
    };
    const node = (name: string, roles: string) =>
      startCommand(['serve', '--roles', roles], {
        ...{ ...cluster, UNDERROUND_NODE: name, UNDERROUND_DATA_DIR: temporaryDirectory() },
      });
    await node('w1', 'write');
    const api = await node('a1', 'api');
    const get = async (path: string, key: readonly string[]) => {
      const answer = await fetch(api.url + path, { headers: { authorization: `Bearer ${key.join('')}` } });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    expect((await get('/v1/markets?limit=1', expected.key)).status).toBe(200);
    const job = await get(`/v1/backtest/${expected.job.job_id}`, expected.demoKey);
    expect(job.body).toMatchObject({ status: 'complete', result: expected.job.result });
    // Rows that wait in the journal are stored after the start.
    const depthRows = async () => {
      const totals = ['BTC', 'ETH', 'SOL'].map(async (ticker) =>
        Number((await get(`/v1/perp/depth?ticker=${ticker}&limit=0`, expected.demoKey)).body.total),
      );
      const rows = (await Promise.all(totals)).reduce((sum, total) => sum + total, 0);
      return rows === expected.tables.perp_depth?.rows;
    };
    await eventually('every row of depth', depthRows);
  },
);
