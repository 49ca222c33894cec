import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { book } from '../../test/support/records.ts';
import { TakerFee } from '../core/fees.ts';
import type { ExecutableFill } from './executable.ts';
import { FillTracker } from './fillTracker.ts';

const SHARE = 1_000_000;
const FEE = new TakerFee({ rate: 0, exponent: 1, base: 'share', decimals: 5, rounding: 'half_up' });

test('at most eight detections of a market wait for their fills', async () => {
  const clock = new FakeClock();
  const traded = { trusted: true, yes: book([], [[5_000, 3 * SHARE]]), no: book([], []) };
  const tracker = new FillTracker(clock, traded);
  const done: (readonly ExecutableFill[])[] = [];
  const legs = [{ token: 'yes', levels: [{ price: 5_000, size: SHARE }] }] as const;
  const detection = {
    detectedMs: clock.now(),
    legs,
    fee: FEE,
    done: (fills: readonly ExecutableFill[]) => void done.push(fills),
  };
  for (let n = 0; n < 9; n++) tracker.add(detection);
  await clock.advance(60_000);
  expect(done).toHaveLength(8);
  expect(new Set(done[0]?.map(({ fillPrice, size }) => `${fillPrice} ${size}`))).toEqual(new Set(['0.5 1']));
  tracker.add({ ...detection, detectedMs: clock.now() });
  expect(tracker.isIdle).toBe(false);
  tracker.forget();
});
