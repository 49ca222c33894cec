import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { forUnknownKeys, isKnownPath, knownKeys } from './knownKeys.ts';

const KNOWN = knownKeys(z.object({ id: z.string(), fee: z.unknown() }), 'icon  image', {
  fee: knownKeys('rate', '', { steps: knownKeys('from') }),
  changes: knownKeys('price size', '', { by: knownKeys('id') }),
});

function unknownIn(message: unknown): [path: string, value: unknown][] {
  const found: [string, unknown][] = [];
  forUnknownKeys(KNOWN, message, (path, value) => found.push([path, value]));
  return found;
}

describe('forUnknownKeys', () => {
  it.each([
    ['fields of the shape, of the list and of the objects inside', { id: 1, icon: 2, fee: { rate: 3 } }, []],
    ['an absent or null object inside', { fee: null, changes: [] }, []],
    ['a value that is no object', 'PONG', []],
    ['a list', [{ other: 1 }], []],
    ['a new field', { id: 1, depth: 7 }, [['depth', 7]]],
    ['a new field of an object inside', { fee: { rate: 1, cap: 2 } }, [['fee.cap', 2]]],
    [
      'a new field of an object inside a list',
      { changes: [{ by: { name: 2 } }] },
      [['changes[].by.name', 2]],
    ],
    ['a new field of a list inside an object', { fee: { steps: [{ to: 2 }] } }, [['fee.steps[].to', 2]]],
    [
      'new fields in the first three objects of a list',
      { changes: [{ a: 1 }, { b: 2 }, { c: 3 }, { d: 4 }] },
      [
        ['changes[].a', 1],
        ['changes[].b', 2],
        ['changes[].c', 3],
      ],
    ],
    ['a new field in a list', { changes: [{ price: 1 }, { seq: 4 }] }, [['changes[].seq', 4]]],
  ])('%s', (_shows, message, expected) => {
    expect(unknownIn(message)).toEqual(expected);
  });
});

it.each([
  ['id', true],
  ['image', true],
  ['depth', false],
  ['fee.rate', true],
  ['fee.cap', false],
  ['fee.steps[].from', true],
  ['fee.steps[].to', false],
  ['changes[].price', true],
  ['changes[].seq', false],
  ['gone.seq', false],
])('%s is known: %s', (path, isKnown) => {
  expect(isKnownPath(KNOWN, path)).toBe(isKnown);
});
