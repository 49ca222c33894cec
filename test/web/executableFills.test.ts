import { expect, it } from 'vitest';
import { delaysOf, fillText } from '../../web/src/pages/signals/executableFills.ts';

const fills = (...executable: readonly (readonly [afterMs: number, price: number | null])[]) => ({
  executable: executable.map(([after_ms, fill_price]) => ({ after_ms, fill_price, size: 1 })),
});
const ROWS = [fills(), fills([250, 0.953], [50, 0.94]), fills([50, null], [500, 0.9])];

it('signals have one column for each delay that a row knows', () => {
  expect(delaysOf(ROWS)).toEqual([50, 250, 500]);
  expect(delaysOf([fills()])).toEqual([]);
});

it('a price that is missing has its reason', () => {
  const rowsAt = (afterMs: number) => ROWS.map((row) => fillText(row, afterMs));
  expect(rowsAt(50)).toEqual(['not known yet', '94.0¢', 'no fill']);
  expect(rowsAt(500)).toEqual(['not known yet', 'not known yet', '90.0¢']);
});
