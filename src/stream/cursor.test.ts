import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatPlace, parsePlace, runOfStream } from './cursor.ts';

const place = fc.record({
  run: fc.stringMatching(/^[0-9a-f]{12}$/),
  seq: fc.maxSafeNat(),
  upTo: fc.option(fc.stringMatching(/^0x[0-9a-f]{62,64}$/), { nil: null }),
});

test('a place survives formatting and parsing', () => {
  fc.assert(
    fc.property(place, (one) => {
      expect(parsePlace(formatPlace(one))).toEqual({ ...one });
    }),
  );
});

test('a cursor changed in one character is rejected', () => {
  const other = fc.constantFrom(...'0123456789abcdefghijklmnopqrstuvwxyz. ');
  fc.assert(
    fc.property(
      place,
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      other,
      (one, where, by) => {
        const text = formatPlace(one);
        const at = Math.floor(where * text.length);
        fc.pre(text[at] !== by);
        expect(parsePlace(text.slice(0, at) + by + text.slice(at + 1))).toBeNull();
      },
    ),
    { numRuns: 2000, seed: 11 },
  );
});

test('a cluster has one run, another stream another one', () => {
  const runs = [0, 4096, 7_354_000_000_000_000].map(runOfStream);
  expect(runs).toEqual([0, 4096, 7_354_000_000_000_000].map(runOfStream));
  expect(new Set(runs).size).toBe(3);
  for (const run of runs) expect(run).toMatch(/^[0-9a-f]{12}$/);
});
