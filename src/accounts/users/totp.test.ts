import { expect, it } from 'vitest';
import { base32, matchingStep, otpauthUri, totpCode, totpStep } from './totp.ts';

/** RFC 6238, appendix B: the ASCII secret of its SHA-1 rows. */
const SECRET = Buffer.from('12345678901234567890');

it.each([
  [59, '94287082'],
  [1111111109, '07081804'],
  [1111111111, '14050471'],
  [1234567890, '89005924'],
  [2000000000, '69279037'],
  [20000000000, '65353130'],
])('RFC 6238, appendix B: at %i s the code is %s', (seconds, code) => {
  const step = totpStep(seconds * 1000);
  expect(totpCode(SECRET, step, 8)).toBe(code);
  expect(totpCode(SECRET, step)).toBe(code.slice(2));
});

it.each(
  ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489'].map(
    (code, counter) => [counter, code] as const,
  ),
)('RFC 4226, appendix D: counter %i is %s', (counter, code) => {
  expect(totpCode(SECRET, counter)).toBe(code);
});

it('a code is accepted in its own step and the neighbouring ones, to the millisecond', () => {
  const code = totpCode(SECRET, 100);
  const at = (nowMs: number) => matchingStep(SECRET, code, nowMs);
  expect([99 * 30_000 - 1, 99 * 30_000, 100 * 30_000, 102 * 30_000 - 1, 102 * 30_000].map(at)).toEqual([
    null,
    100,
    100,
    100,
    null,
  ]);
});

it.each(['', '12345', '1234567', '12345a', ' 123456', '１２３４５６'])('%j is not a code', (code) => {
  expect(matchingStep(SECRET, code, 0)).toBeNull();
});

it.each([
  ['', ''],
  ['f', 'my'],
  ['fo', 'mzxq'],
  ['foo', 'mzxw6'],
  ['foob', 'mzxw6yq'],
  ['fooba', 'mzxw6ytb'],
  ['foobar', 'mzxw6ytboi'],
])('RFC 4648, section 10: base32 of %j', (text, encoded) => {
  expect(base32(Buffer.from(text))).toBe(encoded);
});

it('an authenticator app can read account and secret', () => {
  expect(otpauthUri('a+b@example.com', SECRET)).toBe(
    'otpauth://totp/Underround:a%2Bb%40example.com?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Underround',
  );
});
