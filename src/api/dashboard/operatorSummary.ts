import type { StoreLag } from '../../http/lifecycle.ts';
import { type Route, route } from '../../http/route.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import { operatorSummaryShape } from '../../schema/api/accountResources.ts';
import { formatTime, formatTimeOrNull } from '../../schema/time.ts';

interface SummaryDependencies {
  readonly live: Pick<StoreLag, 'storeLagMs'>;
  readonly metrics: Pick<Metrics, 'registry'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** The figures of the operator page's first line. */
export function operatorSummaryRoutes({ live, metrics, clock }: SummaryDependencies): Route[] {
  const read = (name: string) => totalOf(metrics, name);
  return [
    route({
      method: 'GET',
      path: '/app/operator/summary',
      auth: 'operator',
      access: { feature: null, duringMaintenance: true },
      summary: 'Lag, stored rows and disk of this process',
      description: 'From the metrics of this process; null: it does not store, or nothing is measured yet.',
      response: operatorSummaryShape,
      handle: async () => {
        const [rows, stored, free, growth, fullAtSeconds] = await Promise.all([
          read('underround_store_inserted_rows_total'),
          read('underround_store_table_bytes'),
          read('underround_disk_free_bytes'),
          read('underround_store_growth_bytes_per_day'),
          read('underround_disk_full_timestamp_seconds'),
        ]);
        return {
          body: JSON.stringify({
            as_of: formatTime(clock.now()),
            store_lag_seconds: Math.round(live.storeLagMs() / 100) / 10,
            rows_inserted: rows,
            // These gauges are 0 while they are unknown.
            stored_bytes: stored || null,
            disk_free_bytes: free,
            growth_bytes_per_day: growth || null,
            disk_full_at: formatTimeOrNull(fullAtSeconds ? Math.round(fullAtSeconds * 1000) : null),
          }),
        };
      },
    }),
  ];
}

/** The sum of a metric over its labels; null if this process has no such metric. */
async function totalOf({ registry }: Pick<Metrics, 'registry'>, name: string): Promise<number | null> {
  const found = await registry.getSingleMetric(name)?.get();
  return found === undefined ? null : found.values.reduce((sum, { value }) => sum + value, 0);
}
