import { expect, test } from 'vitest';
import { type KnownRow, rowsOfKnownMarket } from './support/knownEdge.ts';

/** Tolerances on odds, for one tick and for rounding up to it. */
const TICK = 0.0002;
const NONE = { plantedEdge: 0, quotesLateSeconds: 0, priceLateSeconds: 0 };

function sums(rows: readonly KnownRow[]) {
  const mean = (pick: (row: KnownRow) => number) =>
    rows.reduce((sum, row) => sum + pick(row), 0) / rows.length;
  const realized = mean((row) => row.realized);
  const deviation = Math.sqrt(mean((row) => (row.realized - realized) ** 2));
  return {
    ...{ realized, known: mean((row) => row.known), stated: mean((row) => row.stated) },
    interval: (1.96 * deviation) / Math.sqrt(rows.length),
  };
}

test('finds few rows without an edge, worth nothing by the true odds and realised within their interval', () => {
  const windows = 200;
  const rows = rowsOfKnownMarket({ ...NONE, seed: 'fair', windows });
  const { realized, known, stated, interval } = sums(rows);
  expect(rows.length).toBeGreaterThan(0);
  expect(rows.length).toBeLessThan(0.15 * windows);
  // A few rows select the dearer side.
  expect(known).toBeLessThan(TICK);
  expect(known).toBeGreaterThan(-0.01);
  expect(Math.abs(realized)).toBeLessThan(interval);
  // Their stated edge is the threshold and little more.
  expect(stated).toBeLessThan(0.05);
});

test('finds a planted edge of 6 cents in nearly all windows, stated and realised within the interval', () => {
  const windows = 120;
  const rows = rowsOfKnownMarket({ ...NONE, seed: 'planted', windows, plantedEdge: 0.06 });
  const { realized, known, stated, interval } = sums(rows);
  expect(rows.length).toBeGreaterThan(0.9 * windows);
  expect(known).toBeGreaterThan(0.06 - TICK);
  expect(known).toBeLessThan(0.06 + TICK);
  expect(Math.abs(realized - 0.06)).toBeLessThan(interval);
  expect(Math.abs(stated - 0.06)).toBeLessThan(0.01);
});
