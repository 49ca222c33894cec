import { expect, test } from 'vitest';
import { StoreUnavailableError } from '../runtime/errors.ts';
import { isUnavailable, outward } from './sqliteFailure.ts';

/** The error that the driver's failure with this code becomes. */
function outwardOf(errcode: unknown): unknown {
  const failure = Object.assign(new Error('disk I/O error'), { errcode });
  try {
    return outward(() => {
      throw failure;
    });
  } catch (error) {
    return error === failure ? 'unchanged' : error;
  }
}

test.each([
  ['a lock', 5],
  ['the snapshot of another writer', 517],
  ['a failed write to the disk', 778],
  ['a full disk', 13],
  ['no file descriptor', 14],
  ['a file that looks damaged, as on a failing disk', 11],
  ['a file that looks like no database', 26],
])('%s (%i) may be retried', (_, errcode) => {
  expect(outwardOf(errcode)).toEqual(new StoreUnavailableError('control database: disk I/O error'));
});

test.each([
  ['a broken constraint', 1555],
  ['no code', undefined],
])('%s (%s) is reported as it is', (_, errcode) => {
  expect(outwardOf(errcode)).toBe('unchanged');
});

test('an error of the system may be retried: the log could not be opened or read', () => {
  const failure = Object.assign(new Error('EMFILE: too many open files, open'), {
    code: 'EMFILE',
    syscall: 'open',
  });
  expect(isUnavailable(failure)).toBe(true);
});

test('a call that succeeds returns its result', () => {
  expect(outward(() => 7)).toBe(7);
});
