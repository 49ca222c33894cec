import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { operatorSummaryRoutes } from './operatorSummary.ts';

const T0 = 1_795_176_010_000;

async function summaryOf(metrics: Metrics): Promise<unknown> {
  const live = { storeLagMs: () => 1_249 };
  const [summary] = operatorSummaryRoutes({ live, metrics, clock: new FakeClock(T0) });
  const answer = (await summary?.handle({} as never)) as { body: string };
  return JSON.parse(answer.body);
}

it('a process that stores nothing has no figures of storage', async () => {
  expect(await summaryOf(new Metrics())).toEqual({
    ...{ as_of: '2026-11-20T12:00:10.000+00:00', store_lag_seconds: 1.2, rows_inserted: null },
    ...{ stored_bytes: null, disk_free_bytes: null, growth_bytes_per_day: null, disk_full_at: null },
  });
});

it('rows and bytes are summed over all tables; an unknown growth is null', async () => {
  const metrics = new Metrics();
  const rows = metrics.counter('underround_store_inserted_rows_total', 'Rows', ['table']);
  rows.inc({ table: 'books' }, 40);
  rows.inc({ table: 'quotes' }, 2);
  metrics.gauge('underround_store_table_bytes', 'Size', ['table']).set({ table: 'books' }, 5_000);
  metrics.gauge('underround_disk_free_bytes', 'Free').set(9_000);
  metrics.gauge('underround_store_growth_bytes_per_day', 'Growth').set(0);
  metrics.gauge('underround_disk_full_timestamp_seconds', 'Full').set(1_795_262_410);
  expect(await summaryOf(metrics)).toMatchObject({
    ...{ rows_inserted: 42, stored_bytes: 5_000, disk_free_bytes: 9_000, growth_bytes_per_day: null },
    disk_full_at: '2026-11-21T12:00:10.000+00:00',
  });
});
