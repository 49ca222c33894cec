import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatPlace, parsePlace } from './cursor.ts';

const place = fc.record({
  run: fc.stringMatching(/^[0-9a-f]{12}$/),
  seq: fc.maxSafeNat(),
  upTo: fc.option(fc.nat(), { nil: null }),
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
