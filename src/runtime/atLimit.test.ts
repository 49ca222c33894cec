import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { isAtLimit, orAtLimit, whenBelowLimit } from './atLimit.ts';
import { silentLogger } from './log.ts';

const failure = (code: string) => Object.assign(new Error(code), { code });

test.each([
  ['EMFILE', true],
  ['ENFILE', true],
  ['ENOMEM', true],
  ['ENOENT', false],
  ['EIO', false],
])('%s is at a limit: %s', (code, expected) => {
  expect(isAtLimit(failure(code))).toBe(expected);
});

test('no error is at a limit without a code', () => {
  for (const error of [null, undefined, 'EMFILE', new Error('EMFILE')]) expect(isAtLimit(error)).toBe(false);
});

test('a fallback stands for a file that is damaged or absent, not for one beyond a limit', async () => {
  const read = (code: string) => Promise.reject(failure(code)).catch(orAtLimit('nothing'));
  expect([await read('ENOENT'), await read('EIO')]).toEqual(['nothing', 'nothing']);
  await expect(read('EMFILE')).rejects.toMatchObject({ code: 'EMFILE' });
});

/** Work that fails with the errors in turn, then succeeds. */
function failing(...codes: string[]) {
  const left = [...codes];
  return async () => {
    const code = left.shift();
    if (code !== undefined) throw failure(code);
    return 'done';
  };
}

const patience = () => ({ clock: new FakeClock(), log: silentLogger });

test('work is repeated every half second until it succeeds', async () => {
  const { clock, log } = patience();
  const lines: unknown[] = [];
  const watched = { ...log, error: (...line: unknown[]) => lines.push(line) } as never;
  const done = whenBelowLimit(failing('EMFILE', 'ENOMEM'), { clock, log: watched });
  await clock.advance(999);
  expect(clock.waiting).toBe(1);
  await clock.advance(1);
  expect(await done).toBe('done');
  expect(lines).toHaveLength(1);
});

test('any other error is thrown at once', async () => {
  await expect(whenBelowLimit(failing('EIO'), patience())).rejects.toMatchObject({ code: 'EIO' });
});

test('the error of a limit that lasts is thrown when the time is over', async () => {
  const { clock, log } = patience();
  const done = whenBelowLimit(failing('EMFILE', 'EMFILE', 'EMFILE'), { clock, log, forMs: 1_000 });
  done.catch(() => undefined);
  await clock.advance(1_000);
  await expect(done).rejects.toMatchObject({ code: 'EMFILE' });
  expect(clock.waiting).toBe(0);
});

test('an aborted wait ends with the reason', async () => {
  const { clock, log } = patience();
  const stop = new AbortController();
  const done = whenBelowLimit(failing('EMFILE'), { clock, log, signal: stop.signal });
  done.catch(() => undefined);
  await clock.advance(100);
  stop.abort(new Error('closed'));
  await expect(done).rejects.toThrow('closed');
});
