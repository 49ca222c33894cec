import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { openDashboard, PASSWORD } from '../../../test/support/dashboard.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { SIGN_IN_LINK_LIFE_MS, SignInLinks } from './signInLinks.ts';

const BASE = 'http://127.0.0.1:8080';
const PATH = '/app/sign-in-link';
const REFUSED = 'This sign-in link was used or is too old; sign in with e-mail address and password';
const tokenOf = (url: string) =>
  /^http:\/\/127\.0\.0\.1:8080\/sign-in\?link=([\w-]{43})$/.exec(url)?.[1] ?? '';

it('a link identifies its user once, and no other token does', () => {
  const links = new SignInLinks({ clock: new FakeClock(), randomBytes });
  const [first, second] = [tokenOf(links.issue(BASE, 'usr_1')), tokenOf(links.issue(BASE, 'usr_2'))];
  expect(links.use('')).toBeNull();
  expect(links.use(`${first}x`)).toBeNull();
  expect([links.use(first), links.use(first)]).toEqual(['usr_1', null]);
  expect(links.use(second)).toBe('usr_2');
});

it('a link expires a quarter of an hour after its creation', async () => {
  const clock = new FakeClock();
  const links = new SignInLinks({ clock, randomBytes });
  const [used, late] = [tokenOf(links.issue(BASE, 'usr_1')), tokenOf(links.issue(BASE, 'usr_1'))];
  await clock.advance(SIGN_IN_LINK_LIFE_MS - 1);
  expect(links.use(used)).toBe('usr_1');
  await clock.advance(1);
  expect(links.use(late)).toBeNull();
});

it('signs its visitor in once; a second visitor is refused, and the operator sees both', async () => {
  const { accounts, browser, signedUp, clock } = await openDashboard();
  const operator = await signedUp('op@example.com');
  const user = await accounts.users.find('op@example.com');
  const link = tokenOf(accounts.links.issue(BASE, user?.userId ?? ''));
  await clock.advance(1);
  const [visitor, late] = [browser(), browser()];
  const answer = await visitor.ask('POST', PATH, { link });
  expect([answer.statusCode, answer.json().user.email]).toEqual([200, 'op@example.com']);
  expect((await visitor.ask('GET', '/app/me')).statusCode).toBe(200);
  await clock.advance(1);
  const refused = await late.ask('POST', PATH, { link });
  expect([refused.statusCode, refused.json().detail]).toEqual([403, REFUSED]);
  expect((await late.ask('GET', '/app/me')).statusCode).toBe(401);
  const { events } = (await operator.ask('GET', '/app/operator/events')).json();
  const [second, first] = events as { action: string; reason: string | null; detail: string | null }[];
  expect([first, second]).toMatchObject([
    { action: 'sign_in', reason: null, detail: 'sign-in link' },
    { action: 'sign_in', reason: REFUSED, detail: null },
  ]);
});

it('does not sign in a user who was suspended in the meantime', async () => {
  const { accounts, browser, signedUp } = await openDashboard();
  await signedUp('op@example.com');
  const user = await accounts.users.signUp('a@example.com', await accounts.passwords.hash(PASSWORD));
  const link = tokenOf(accounts.links.issue(BASE, user?.userId ?? ''));
  await accounts.users.update({ email: 'a@example.com' }, { suspended: true });
  const refused = await browser().ask('POST', PATH, { link });
  expect([refused.statusCode, refused.json().detail]).toEqual([403, REFUSED]);
});
