import { expect, test } from 'vitest';
import { dayOf, nanoOf } from './auditDays.ts';

test('a sum of a day counts whole billionths, rounded: the product of a float may lie on either side', () => {
  expect([0.067, -0.067, -0.536, 0].map(nanoOf)).toEqual([67_000_000, -67_000_000, -536_000_000, 0]);
});

test('a day begins at midnight UTC', () => {
  const dayMs = Date.UTC(2026, 10, 20);
  const nextMs = Date.UTC(2026, 10, 21);
  expect([dayMs, nextMs - 1, nextMs].map(dayOf)).toEqual([dayMs, dayMs, nextMs]);
});
