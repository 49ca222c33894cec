import { expect, test } from 'vitest';
import { START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import { prepareMarket } from './prepare.ts';

test('prices make rows from the start of the window on; those before it feed the model alone', () => {
  const tape = new TapeWriter()
    .book({ at: -10, bids: [[0.49, 100]], asks: [[0.51, 100]] })
    .price(-1, 97_000)
    .price(0, 97_001)
    .price(1, 97_002)
    .tape();
  const { rows } = prepareMarket(tape, { model: true });
  const times = [...rows.timeMs.subarray(0, rows.count)];
  expect(times.map((timeMs) => timeMs - START_MS)).toEqual([-10, 0, 1]);
});
