/** A password is verified outside the database, which takes long: what changes meanwhile must count. */
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { openDashboard, PASSWORD, type TestDashboard } from '../../../test/support/dashboard.ts';

const EMAIL = 'ann@example.com';
const NEW_PASSWORD = 'a new and better one';

/** A user, and another browser whose next password is verified at once but answered only after `release`. */
async function open() {
  const dashboard = await openDashboard();
  await dashboard.signedUp('operator@example.com');
  const user = await dashboard.signedUp(EMAIL);
  return { ...dashboard, user, ...holdNext(dashboard) };
}

function holdNext({ accounts: { passwords } }: TestDashboard) {
  const [verified, released] = [gate(), gate()];
  const hold = () => {
    const verify = passwords.verify.bind(passwords);
    vi.spyOn(passwords, 'verify').mockImplementationOnce(async (...given) => {
      const right = await verify(...given);
      verified.open();
      await released.opened;
      return right;
    });
  };
  return { hold, verified: verified.opened, release: released.open };
}

function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

const change = (from: string, to: string) => ({ current_password: from, new_password: to });

it('a sign-in with a password that is changed meanwhile begins no session', async () => {
  const { accounts, browser, user, hold, verified, release } = await open();
  const thief = browser();
  hold();
  const answer = thief.ask('POST', '/app/sign-in', { email: EMAIL, password: PASSWORD });
  await verified;
  expect(await user.status('POST', '/app/password', change(PASSWORD, NEW_PASSWORD))).toBe(200);
  release();
  expect((await answer).json()).toEqual({ detail: 'Wrong e-mail address or password' });
  expect(await thief.status('GET', '/app/me')).toBe(401);
  expect((await user.ask('GET', '/app/sessions')).json().sessions).toHaveLength(1);
  const events = await accounts.events.page({ limit: 10, after: null });
  expect(events.filter(({ action }) => action === 'sign_in')).toMatchObject([
    { email: EMAIL, reason: 'the password was changed, or the user suspended, meanwhile' },
  ]);
});

it('a suspension ends a sign-in that is under way, also if the suspension is lifted later', async () => {
  const { accounts, browser, hold, verified, release } = await open();
  const late = browser();
  hold();
  const answer = late.ask('POST', '/app/sign-in', { email: EMAIL, password: PASSWORD });
  await verified;
  await accounts.users.update({ email: EMAIL }, { suspended: true });
  release();
  expect((await answer).statusCode).toBe(401);
  await accounts.users.update({ email: EMAIL }, { suspended: false });
  expect(await late.status('GET', '/app/me')).toBe(401);
});

it('of two changes of one password at the same time, the first to be stored stays', async () => {
  const { browser, user, hold, verified, release } = await open();
  const thief = browser();
  expect(await thief.status('POST', '/app/sign-in', { email: EMAIL, password: PASSWORD })).toBe(200);
  hold();
  const answer = thief.ask('POST', '/app/password', change(PASSWORD, 'the password of a thief'));
  await verified;
  expect(await user.status('POST', '/app/password', change(PASSWORD, NEW_PASSWORD))).toBe(200);
  release();
  expect((await answer).json()).toEqual({ detail: 'The current password is wrong' });
  expect(await thief.status('GET', '/app/me')).toBe(401);
  expect(await user.status('GET', '/app/me')).toBe(200);
  expect(await browser().status('POST', '/app/sign-in', { email: EMAIL, password: NEW_PASSWORD })).toBe(200);
});

it('neither a new password nor a suspension is stored if the sessions of its user cannot be ended', async () => {
  const { accounts, browser, user } = await open();
  const { database, users } = accounts;
  await sql`create trigger kept before delete on sessions begin select raise(abort, 'kept'); end`.execute(
    database,
  );
  expect(await user.status('POST', '/app/password', change(PASSWORD, NEW_PASSWORD))).toBe(500);
  await expect(users.setPassword({ email: EMAIL }, 'hash')).rejects.toThrow('kept');
  await expect(users.update({ email: EMAIL }, { suspended: true })).rejects.toThrow('kept');
  await sql`drop trigger kept`.execute(database);
  expect(await browser().status('POST', '/app/sign-in', { email: EMAIL, password: PASSWORD })).toBe(200);
});
