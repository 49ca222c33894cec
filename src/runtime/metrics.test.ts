import type { Counter } from 'prom-client';
import { expect, test } from 'vitest';
import { Metrics } from './metrics.ts';

test('a part that is started again is read instead of the one before it', async () => {
  const metrics = new Metrics();
  for (const held of [0, 4]) {
    metrics.gauge('underround_partitions_held', 'Held', [], (gauge) => gauge.set(held));
    const seen: Counter = metrics.counter('underround_seen_total', 'Seen', [], () => seen.inc(held));
  }
  const text = await metrics.registry.metrics();
  expect(text).toContain('\nunderround_partitions_held 4\n');
  expect(text).toContain('\nunderround_seen_total 4\n');
});
