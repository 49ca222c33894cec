import { expect, test } from 'vitest';
import { z } from 'zod';
import { VenueMessageError } from '../runtime/errors.ts';
import { parseJson, parseShape } from './json.ts';

test('a text that is no JSON is repeated up to 100 characters', () => {
  expect(parseJson('{"a":[1]}')).toEqual({ a: [1] });
  const text = 'x'.repeat(150);
  const error = catchError(() => parseJson(text));
  expect(error).toEqual(new VenueMessageError(`no JSON: ${'x'.repeat(100)}`));
  expect(error.cause).toBeInstanceOf(SyntaxError);
});

test('a value of another shape names up to three of the wrong fields', () => {
  const inside = z.object({ b: z.string(), c: z.string(), d: z.string() });
  const shape = z.object({ a: inside, e: z.string() });
  const right = { a: { b: '1', c: '2', d: '3' }, e: '4' };
  expect(parseShape(shape, { ...right, other: 1 }, 'book')).toEqual(right);
  const error = catchError(() => parseShape(shape, { a: { b: 1, c: 2, d: 3 }, e: 4 }, 'book'));
  expect(error).toBeInstanceOf(VenueMessageError);
  expect(error.message).toMatch(/^book: a\.b [^;]+; a\.c [^;]+; a\.d [^;]+$/);
  expect(error.cause).toBeInstanceOf(z.ZodError);
});

function catchError(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}
