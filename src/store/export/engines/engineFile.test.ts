import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryDirectory } from '../../../../test/support/temporaryDirectory.ts';
import { InvalidInputError } from '../../../runtime/errors.ts';
import { writeWhole } from './engineFile.ts';
import { npzOf } from './npzFile.ts';

const EVENT_BYTES = 64;
const { signal } = new AbortController();

async function* events(...counts: readonly number[]) {
  for (const count of counts) yield Buffer.alloc(count * EVENT_BYTES);
}

test.each([
  ['fewer', 3, [2]],
  ['more', 1, [1, 1]],
])('an array with %s events than announced is refused, and leaves no file', async (_, announced, counts) => {
  const folder = temporaryDirectory(onTestFinished);
  const writing = writeWhole(join(folder, 'events.npz'), npzOf(events(...counts), announced), { signal });
  await expect(writing).rejects.toThrow(InvalidInputError);
  expect(readdirSync(folder)).toEqual([]);
});
