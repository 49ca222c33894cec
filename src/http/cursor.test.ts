import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor, SEQ_TIE } from './cursor.ts';
import { RequestRefusedError } from './refusal.ts';

const SCOPE = ['perp_depth', 'BTC', null, null, 'asc'];
const PLACE = { timeMs: 1_795_300_500_123, tie: '7353550855487488' };
const CURSOR = encodeCursor(SCOPE, PLACE);

function refusal(text: string, scope = SCOPE): unknown {
  try {
    return decodeCursor(scope, text, SEQ_TIE);
  } catch (error) {
    return error instanceof RequestRefusedError && { status: error.status, detail: error.detail };
  }
}
const REFUSED = { status: 400, detail: 'cursor is not valid for this query' };

test('a cursor decodes to its position', () => {
  expect(decodeCursor(SCOPE, CURSOR, SEQ_TIE)).toEqual(PLACE);
  expect(decodeCursor(SCOPE, null, SEQ_TIE)).toBeNull();
});

test('a cursor of another query is refused', () => {
  expect(refusal(CURSOR, ['perp_depth', 'ETH', null, null, 'asc'])).toEqual(REFUSED);
});

test.each([
  ['0', true],
  ['9007199254740991', true],
  ['9007199254740992', false],
  ['10000000000000000', false],
  ['-1', false],
  ['1e3', false],
])('the number %s of a record is accepted: %j', (tie, isAccepted) => {
  const place = { ...PLACE, tie };
  const text = encodeCursor(SCOPE, place);
  expect(isAccepted ? decodeCursor(SCOPE, text, SEQ_TIE) : refusal(text)).toEqual(
    isAccepted ? place : REFUSED,
  );
});

test('a cursor truncated anywhere is refused, even if the rest is a valid position', () => {
  for (let length = 0; length < CURSOR.length; length++) {
    expect(refusal(CURSOR.slice(0, length)), `${length} characters`).toEqual(REFUSED);
  }
});

test('a cursor with one changed character is refused', () => {
  for (let at = 0; at < CURSOR.length; at++) {
    const other = CURSOR[at] === 'A' ? 'B' : 'A';
    expect(refusal(CURSOR.slice(0, at) + other + CURSOR.slice(at + 1)), `character ${at}`).toEqual(REFUSED);
  }
});
