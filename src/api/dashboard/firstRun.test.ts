import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { openDashboard, PASSWORD, type TestDashboard } from '../../../test/support/dashboard.ts';
import { OperatorSetup, SETUP_LINK_LIFE_MS } from '../../accounts/users/operatorSetup.ts';

const path = '/app/sign-up';
const body = { email: 'a@example.com', password: PASSWORD };
const NEEDS_LINK =
  'This service has no operator yet: the first sign-up needs the setup link that `underround serve` printed';
const NOT_VALID = 'This setup link is not valid: use the newest one; a restart of the service prints another';
const USED = 'This setup link was used: the service has its operator';
const CLOSED = 'Sign-up is closed; ask the operator of this service for an account';

it('a service without a sign-up has no operator, even with users created on the command line', async () => {
  const { browser, accounts } = await openDashboard();
  for (let n = 0; n < 51; n++) await accounts.users.create(`made-${n}@example.com`);
  const asked = await browser().ask('GET', path);
  expect([asked.statusCode, asked.json()]).toEqual([200, { has_operator: false, open: true }]);
  expect(await browser().status('POST', path, { ...body, setup: accounts.setup.token })).toBe(200);
  expect((await browser().ask('GET', path)).json()).toEqual({ has_operator: true, open: true });
});

it('is not queried again once an operator exists', async () => {
  const { browser, accounts } = await openDashboard();
  await browser().ask('POST', path, { ...body, setup: accounts.setup.token });
  let looked = 0;
  const hasOperator = accounts.users.hasOperator.bind(accounts.users);
  accounts.users.hasOperator = async () => {
    looked++;
    return await hasOperator();
  };
  const answers = [await browser().ask('GET', path), await browser().ask('GET', path)];
  const state = { has_operator: true, open: true };
  expect(answers.map((answer) => answer.json())).toEqual([state, state]);
  expect(looked).toBe(1);
});

it('only the setup link makes a visitor the operator, and only once', async () => {
  const { browser, accounts } = await openDashboard();
  const { token } = accounts.setup;
  expect(token).toMatch(/^[\w-]{43}$/);
  const signUp = async (email: string, setup?: string | null) => {
    const stranger = browser();
    const answer = await stranger.ask('POST', path, { ...body, email, setup });
    return [answer.statusCode, answer.json().detail ?? answer.json().user.operator];
  };
  expect(await signUp('a@example.com')).toEqual([403, NEEDS_LINK]);
  expect(await signUp('a@example.com', null)).toEqual([403, NEEDS_LINK]);
  expect(await signUp('a@example.com', `${token.slice(0, -1)}!`)).toEqual([403, NOT_VALID]);
  expect(await signUp('a@example.com', '')).toEqual([403, NOT_VALID]);
  expect(await accounts.users.list()).toEqual([]);
  expect(await signUp('op@example.com', token)).toEqual([200, true]);
  expect(await signUp('b@example.com', token)).toEqual([403, USED]);
  expect(await signUp('b@example.com')).toEqual([200, false]);
});

it('if two visitors use the link at once, one becomes the operator and the other gets no account', async () => {
  const { browser, accounts } = await openDashboard();
  const emails = ['a@example.com', 'b@example.com'];
  const answers = await Promise.all(
    emails.map((email) =>
      browser().ask('POST', path, { email, password: PASSWORD, setup: accounts.setup.token }),
    ),
  );
  expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 403]);
  expect((await accounts.users.list()).map(({ operator }) => operator)).toEqual([true]);
});

/** Another process on the same database. */
function otherNode({ accounts, clock }: TestDashboard): OperatorSetup {
  return new OperatorSetup({ users: accounts.users, database: accounts.database, clock, randomBytes });
}

it('a link that another process printed works, once, and only its hash is stored', async () => {
  const dashboard = await openDashboard();
  const { browser, accounts } = dashboard;
  const [other, silent] = [otherNode(dashboard), otherNode(dashboard)];
  const signUp = (email: string, setup: string) =>
    browser().ask('POST', path, { email, password: PASSWORD, setup });
  await other.link('http://127.0.0.1:1');
  const stored = await accounts.database.selectFrom('settings').selectAll().execute();
  expect(stored.map(({ name }) => name)).toEqual([expect.stringMatching(/^setup_link:[0-9a-f]{64}$/)]);
  expect(JSON.stringify(stored)).not.toContain(other.token);
  expect((await signUp('a@example.com', silent.token)).json()).toEqual({ detail: NOT_VALID });
  expect((await signUp('op@example.com', other.token)).json()).toMatchObject({ user: { operator: true } });
  expect((await signUp('b@example.com', other.token)).json()).toEqual({ detail: USED });
  expect(await otherNode(dashboard).link('http://127.0.0.1:1')).toBeNull();
  const left = await accounts.database.selectFrom('settings').select('name').execute();
  expect(left.filter(({ name }) => name.startsWith('setup_link:'))).toEqual([]);
});

it('a link of another process expires, and the next printed link removes it', async () => {
  const dashboard = await openDashboard();
  const { accounts, clock } = dashboard;
  const other = otherNode(dashboard);
  await other.link('http://127.0.0.1:1');
  clock.stepWall(SETUP_LINK_LIFE_MS - 1);
  expect(await accounts.setup.accepts(other.token)).toBe(true);
  clock.stepWall(1);
  expect([await accounts.setup.accepts(other.token), await other.accepts(other.token)]).toEqual([
    false,
    true,
  ]);
  await accounts.setup.link('http://127.0.0.1:1');
  expect(await accounts.database.selectFrom('settings').select('name').execute()).toHaveLength(1);
});

it('a refused setup token is not repeated in the response', async () => {
  const { browser, accounts } = await openDashboard();
  const answer = await browser().ask('POST', path, { ...body, setup: [accounts.setup.token] });
  expect(answer.statusCode).toBe(422);
  expect(answer.body).not.toContain(accounts.setup.token);
});

it('a closed sign-up still admits the first operator, and nobody else', async () => {
  const { browser, accounts } = await openDashboard({ signUpOpen: false });
  expect((await browser().ask('GET', path)).json()).toEqual({ has_operator: false, open: false });
  expect(await browser().status('POST', path, { ...body, setup: accounts.setup.token })).toBe(200);
  const refused = await browser().ask('POST', path, { ...body, email: 'b@example.com' });
  expect([refused.statusCode, refused.json()]).toEqual([403, { detail: CLOSED }]);
});

it('making a user the operator on the command line invalidates the link', async () => {
  const { browser, accounts } = await openDashboard();
  expect(await accounts.setup.link('http://127.0.0.1:8080')).toBe(
    `http://127.0.0.1:8080/sign-up?setup=${accounts.setup.token}`,
  );
  await accounts.users.create('op@example.com');
  await accounts.users.setOperator('op@example.com');
  expect(await accounts.setup.link('http://127.0.0.1:8080')).toBeNull();
  const refused = await browser().ask('POST', path, { ...body, setup: accounts.setup.token });
  expect([refused.statusCode, refused.json()]).toEqual([403, { detail: USED }]);
});
