import { expect, it } from 'vitest';
import { growthText } from '../../web/src/pages/operator/growthText.ts';

const NOW = Date.UTC(2026, 10, 26);

it.each([
  ['before a whole day', null, null, 'growth is known after the first whole day of recording'],
  ['a soon full disk', 1.5e9, '2026-12-01T12:00:00.000+00:00', '+1.5 GB a day, full on 2026-12-01'],
  ['a far day', 84_136, '4131-04-05T23:34:52.063+00:00', '+84.1 kB a day, full in more than ten years'],
  ['no forecast', 84_136, null, '+84.1 kB a day'],
])('%s', (_what, growth_bytes_per_day, disk_full_at, text) => {
  expect(growthText({ growth_bytes_per_day, disk_full_at }, NOW)).toBe(text);
});
