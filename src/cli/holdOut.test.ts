import { expect, test } from 'vitest';
import { InvalidInputError } from '../runtime/errors.ts';
import { withHoldOut } from './holdOut.ts';

const [START, NOON, END] = [11, 12, 13].map((hour) => Date.UTC(2026, 10, 20, hour)) as [
  number,
  number,
  number,
];
const ASKED = { startMs: START, endMs: END };

test('without --hold-out the whole range is read', () => {
  expect(withHoldOut(ASKED, undefined)).toEqual({ asked: ASKED, heldOut: null });
});

test('windows from the given time on are left out and named', () => {
  const heldOut = { start: '2026-11-20T12:00:00.000+00:00', end: '2026-11-20T13:00:00.000+00:00' };
  expect(withHoldOut(ASKED, '2026-11-20T12:00Z')).toEqual({ asked: { ...ASKED, endMs: NOON }, heldOut });
  const open = { startMs: null, endMs: END };
  expect(withHoldOut(open, '2026-11-20T12:00Z')).toEqual({ asked: { ...open, endMs: NOON }, heldOut });
});

test.each([
  ['2026-11-20T13:00Z', '--hold-out must be before the end of the range'],
  ['2026-11-20T11:00Z', '--hold-out must be after the start of the range'],
  ['noon', '--hold-out noon: not a time such as 2026-11-20T12:00Z'],
])('%s is refused, because it leaves nothing to one of the two', (from, message) => {
  expect(() => withHoldOut(ASKED, from)).toThrow(new InvalidInputError(message));
});

test('the smallest parts that may be left', () => {
  expect(withHoldOut(ASKED, '2026-11-20T12:59:59.999Z').asked.endMs).toBe(END - 1);
  expect(withHoldOut(ASKED, '2026-11-20T11:00:00.001Z').asked.endMs).toBe(START + 1);
});
