import { expect, it } from 'vitest';
import { fromBase32 } from '../../../test/support/base32.ts';
import { openDashboard, PASSWORD } from '../../../test/support/dashboard.ts';
import { totpCode, totpStep } from '../../accounts/users/totp.ts';

const EMAIL = 'op@example.com';
const PATH = '/app/second-factor';
const NEEDS_CODE = 'A code of the authenticator app, or a recovery code, is needed';

async function open(options: { limited?: boolean } = {}) {
  const dashboard = await openDashboard(options);
  const user = await dashboard.signedUp(EMAIL);
  const begin = async () => {
    const { secret } = (await user.ask('POST', PATH)).json();
    return (steps = 0) => totpCode(fromBase32(secret), totpStep(dashboard.clock.now()) + steps);
  };
  const enable = async () => {
    const code = await begin();
    const answer = await user.ask('POST', `${PATH}/confirm`, { password: PASSWORD, code: code() });
    const recovery: string[] = answer.json().recovery_codes;
    // Later than the code that was just used.
    await dashboard.clock.advance(60_000);
    return { code, recovery };
  };
  const signIn = async (code?: string, password = PASSWORD) => {
    const body = { email: EMAIL, password, ...(code === undefined ? {} : { code }) };
    const answer = await dashboard.browser().ask('POST', '/app/sign-in', body);
    return [
      answer.statusCode,
      answer.json().detail ?? answer.json().user.email,
      answer.headers['x-second-factor'],
    ];
  };
  return { ...dashboard, user, begin, enable, signIn };
}

it('is off until the user confirms a code', async () => {
  const { user, begin, signIn } = await open();
  const off = { enabled: false, recovery_codes_left: 0 };
  expect((await user.ask('GET', PATH)).json()).toEqual(off);
  const made = (await user.ask('POST', PATH)).json();
  expect(made.secret).toMatch(/^[a-z2-7]{32}$/);
  expect(made.uri).toBe(
    `otpauth://totp/Underround:op%40example.com?secret=${made.secret.toUpperCase()}&issuer=Underround`,
  );
  const code = await begin();
  const wrong = await user.ask('POST', `${PATH}/confirm`, { password: PASSWORD, code: code(3) });
  expect([wrong.statusCode, wrong.json()]).toEqual([
    403,
    { detail: 'The code is wrong; check the clock of the device' },
  ]);
  expect((await user.ask('GET', PATH)).json()).toEqual(off);
  expect(await signIn()).toEqual([200, EMAIL, undefined]);
  const right = await user.ask('POST', `${PATH}/confirm`, { password: PASSWORD, code: code() });
  expect(right.json().recovery_codes).toHaveLength(10);
  expect((await user.ask('GET', PATH)).json()).toEqual({ enabled: true, recovery_codes_left: 10 });
  expect(await user.status('POST', PATH)).toBe(409);
  expect(await user.status('POST', `${PATH}/confirm`, { password: PASSWORD, code: code(1) })).toBe(403);
});

it('whoever has only the session cannot enable codes and lock the owner out', async () => {
  const { user, begin, signIn } = await open();
  const code = await begin();
  const wrong = await user.ask('POST', `${PATH}/confirm`, { password: 'wrong', code: code() });
  expect([wrong.statusCode, wrong.json()]).toEqual([403, { detail: 'The password is wrong' }]);
  expect(await user.status('POST', `${PATH}/confirm`, { code: code() })).toBe(422);
  expect((await user.ask('GET', PATH)).json()).toEqual({ enabled: false, recovery_codes_left: 0 });
  expect(await signIn()).toEqual([200, EMAIL, undefined]);
  const { events } = (await user.ask('GET', '/app/operator/events')).json();
  const tried = events.filter(({ action }: { action: string }) => action === 'enable_totp');
  expect(tried).toMatchObject([{ email: EMAIL, reason: 'wrong password' }]);
});

it('signing in requires the password and then a code, which works once', async () => {
  const { enable, signIn, clock } = await open();
  const { code } = await enable();
  expect(await signIn()).toEqual([401, NEEDS_CODE, 'required']);
  expect(await signIn(undefined, 'wrong')).toEqual([401, 'Wrong e-mail address or password', undefined]);
  expect(await signIn(code(), 'wrong')).toEqual([401, 'Wrong e-mail address or password', undefined]);
  expect(await signIn(code(3))).toEqual([401, 'The code is wrong or was used', 'required']);
  expect(await signIn(code())).toEqual([200, EMAIL, undefined]);
  expect(await signIn(code())).toEqual([401, 'The code is wrong or was used', 'required']);
  expect(await signIn(code(-1))).toEqual([401, 'The code is wrong or was used', 'required']);
  await clock.advance(30_000);
  expect(await signIn(code())).toEqual([200, EMAIL, undefined]);
});

it('the operator sees that somebody had the password but no code', async () => {
  const { enable, signIn, user } = await open();
  await enable();
  await signIn();
  const { events } = (await user.ask('GET', '/app/operator/events')).json();
  expect(events[0]).toMatchObject({ action: 'sign_in', email: EMAIL, reason: 'code missing' });
});

it('of two sign-ins with one code at the same time, one succeeds', async () => {
  const { enable, signIn } = await open();
  const { code } = await enable();
  const answers = await Promise.all(Array.from({ length: 4 }, () => signIn(code())));
  expect(answers.map(([status]) => status).sort()).toEqual([200, 401, 401, 401]);
});

it('each recovery code works once, in any spelling', async () => {
  const { user, enable, signIn } = await open();
  const { recovery } = await enable();
  const [first = '', second = ''] = recovery;
  expect(first).toMatch(/^[a-z2-7]{4}(-[a-z2-7]{4}){3}$/);
  expect(new Set(recovery).size).toBe(10);
  expect(await signIn(first)).toEqual([200, EMAIL, undefined]);
  expect(await signIn(first)).toEqual([401, 'The code is wrong or was used', 'required']);
  expect(await signIn(second.toUpperCase().replaceAll('-', ' '))).toEqual([200, EMAIL, undefined]);
  expect((await user.ask('GET', PATH)).json()).toEqual({ enabled: true, recovery_codes_left: 8 });
});

it('is disabled with the password and a code', async () => {
  const { user, enable, signIn } = await open();
  const { code } = await enable();
  const disable = async (body: { password: string; code: string }) =>
    (await user.ask('POST', `${PATH}/disable`, body)).statusCode;
  expect(await disable({ password: 'wrong', code: code() })).toBe(403);
  expect(await disable({ password: PASSWORD, code: code(3) })).toBe(403);
  expect(await disable({ password: PASSWORD, code: code() })).toBe(204);
  expect(await signIn()).toEqual([200, EMAIL, undefined]);
});

it('wrong codes count as sign-in attempts, so codes cannot be guessed', async () => {
  const { enable, signIn } = await open({ limited: true });
  const { code } = await enable();
  for (let n = 0; n < 9; n++) expect((await signIn(code(3)))[0]).toBe(401);
  expect((await signIn(code()))[0]).toBe(429);
});

it('the database contains no plain secret or code, and no refusal repeats one', async () => {
  const { accounts, user, begin, signIn } = await open();
  const code = await begin();
  const { recovery_codes } = (
    await user.ask('POST', `${PATH}/confirm`, { password: PASSWORD, code: code() })
  ).json();
  const factors = await accounts.database.selectFrom('second_factors').selectAll().execute();
  const codes = await accounts.database.selectFrom('recovery_codes').selectAll().execute();
  expect([factors.length, codes.length]).toEqual([1, 10]);
  expect(factors[0]?.secret).toMatch(/^v1\./);
  for (const secret of recovery_codes) {
    expect(JSON.stringify(codes)).not.toContain(secret);
    expect(JSON.stringify(codes)).not.toContain(secret.replaceAll('-', ''));
  }
  expect(JSON.stringify(await signIn(recovery_codes[0].repeat(20)))).not.toContain(recovery_codes[0]);
});
