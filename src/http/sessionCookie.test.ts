import { expect, test } from 'vitest';
import { setSessionCookies } from './sessionCookie.ts';

const TOKEN = 'x'.repeat(43);
const PLAIN_NAME = 'underround_session';
const TLS_NAME = '__Host-underround_session';
const BEGUN = 'Max-Age=2592000; Path=/; HttpOnly';
const ENDED = 'Max-Age=0; Path=/; HttpOnly';

/** Cookies in any order of their attributes. */
const sorted = (cookies: readonly string[]) => cookies.map((text) => text.split('; ').sort());

test.each([
  [
    'TLS ends the cookie of plain HTTP',
    { tls: true, secure: true, sent: [PLAIN_NAME] },
    [
      `${TLS_NAME}=${TOKEN}; ${BEGUN}; Secure; SameSite=Lax`,
      `${PLAIN_NAME}=; ${ENDED}; Secure; SameSite=Lax`,
    ],
  ],
  [
    'plain HTTP within a machine ends the cookie of TLS, which browsers change only with Secure',
    { tls: false, secure: false, sent: [TLS_NAME, PLAIN_NAME] },
    [`${PLAIN_NAME}=${TOKEN}; ${BEGUN}; SameSite=Lax`, `${TLS_NAME}=; ${ENDED}; Secure; SameSite=Lax`],
  ],
] as const)('a sign-in over %s', (_, scope, cookies) => {
  expect(sorted(setSessionCookies(TOKEN, scope))).toEqual(sorted(cookies));
});

test('a sign-out ends the current cookie, and the other one that the browser sent', () => {
  const scope = { tls: false, secure: false, sent: [TLS_NAME] };
  expect(sorted(setSessionCookies(null, scope))).toEqual(
    sorted([`${PLAIN_NAME}=; ${ENDED}; SameSite=Lax`, `${TLS_NAME}=; ${ENDED}; Secure; SameSite=Lax`]),
  );
});
