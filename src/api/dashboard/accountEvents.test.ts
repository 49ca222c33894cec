import { expect, it } from 'vitest';
import { openDashboard, PASSWORD } from '../../../test/support/dashboard.ts';

const PATH = '/app/operator/events';
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/);

async function openOperator() {
  const dashboard = await openDashboard();
  const operator = await dashboard.signedUp('op@example.com');
  const events = async () => {
    const { events: list } = (await operator.ask('GET', PATH)).json();
    return list.map((event: Record<string, string | null>) =>
      [event.action, event.email, event.actor, event.reason ?? event.detail].join(' | '),
    );
  };
  /** Events of the same millisecond have no defined order. */
  const next = () => dashboard.clock.advance(1);
  return { ...dashboard, operator, events, next };
}

it('shows sign-ins, with address and reason of failure', async () => {
  const { browser, operator, accounts, events, next } = await openOperator();
  await accounts.users.create('made@example.com');
  const tries = [
    ['nobody@example.com', 'x'],
    ['made@example.com', 'x'],
    ['op@example.com', 'x'],
    ['op@example.com', PASSWORD],
  ];
  for (const [email, password] of tries) {
    await next();
    await browser().ask('POST', '/app/sign-in', { email, password });
  }
  expect(await events()).toEqual([
    'sign_in | op@example.com |  | ',
    'sign_in | op@example.com |  | wrong password',
    'sign_in | made@example.com |  | the user has no password',
    'sign_in | nobody@example.com |  | unknown e-mail address',
    'sign_up | op@example.com |  | operator',
  ]);
  const [first] = (await operator.ask('GET', PATH)).json().events;
  expect(first).toEqual({
    event_id: expect.stringMatching(/^evt_/),
    at: TIME,
    action: 'sign_in',
    reason: null,
    email: 'op@example.com',
    actor: null,
    address: '127.0.0.1',
    detail: null,
  });
});

it('shows sign-ups and refused ones', async () => {
  const { browser, accounts, events, next } = await openOperator();
  const body = { email: 'a@example.com', password: PASSWORD };
  for (const more of [{}, {}, { setup: accounts.setup.token }]) {
    await next();
    await browser().ask('POST', '/app/sign-up', { ...body, ...more });
  }
  expect((await events()).slice(0, 3)).toEqual([
    'sign_up | a@example.com |  | This setup link was used: the service has its operator',
    'sign_up | a@example.com |  | A user with this e-mail address exists already',
    'sign_up | a@example.com |  | user',
  ]);
});

it('shows operator actions and password changes', async () => {
  const { signedUp, operator, events, next } = await openOperator();
  const user = await signedUp('a@example.com');
  const { user_id } = (await user.ask('GET', '/app/me')).json().user;
  const wrong = { current_password: 'x', new_password: 'another long password' };
  const done = [
    () => user.ask('POST', '/app/password', wrong),
    () => user.ask('POST', '/app/password', { ...wrong, current_password: PASSWORD }),
    () => operator.ask('PATCH', `/app/users/${user_id}`, { tier: 'plus' }),
    () => operator.ask('PATCH', `/app/users/${user_id}`, { suspended: true }),
    () => operator.ask('PATCH', `/app/users/${user_id}`, { suspended: false }),
    () => operator.ask('PUT', '/app/maintenance', { on: true, message: 'moving' }),
    () => operator.ask('PUT', '/app/maintenance', { on: false }),
  ];
  for (const act of done) {
    await next();
    await act();
  }
  expect((await events()).slice(0, done.length)).toEqual([
    'maintenance_off |  | op@example.com | ',
    'maintenance_on |  | op@example.com | moving',
    'unsuspend | a@example.com | op@example.com | ',
    'suspend | a@example.com | op@example.com | ',
    'set_tier | a@example.com | op@example.com | plus',
    'change_password | a@example.com |  | ',
    'change_password | a@example.com |  | wrong current password',
  ]);
});

it('is paged by cursor, counted with limit 0, and visible to the operator only', async () => {
  const { browser, operator, signedUp, next } = await openOperator();
  for (let n = 0; n < 4; n++) {
    await next();
    await browser().ask('POST', '/app/sign-in', { email: `u${n}@example.com`, password: 'x' });
  }
  const all = (await operator.ask('GET', PATH)).json();
  expect([all.count, all.next_cursor]).toEqual([5, null]);
  const paged = [];
  for (let cursor = ''; ; ) {
    const page = (await operator.ask('GET', `${PATH}?limit=2${cursor}`)).json();
    paged.push(...page.events);
    if (page.next_cursor === null) break;
    cursor = `&cursor=${page.next_cursor}`;
  }
  expect(paged).toEqual(all.events);
  expect((await operator.ask('GET', `${PATH}?limit=0`)).json()).toEqual({
    ...{ count: 5, events: [], next_cursor: null },
  });
  expect(await operator.status('GET', `${PATH}?cursor=x`)).toBe(400);
  expect(await (await signedUp('a@example.com')).status('GET', PATH)).toBe(403);
  expect(await browser().status('GET', PATH)).toBe(401);
});

it('a sign-in succeeds even if its event cannot be stored', async () => {
  const { accounts, browser } = await openOperator();
  await accounts.database.schema.dropTable('account_events').execute();
  const credentials = { email: 'op@example.com', password: PASSWORD };
  expect(await browser().status('POST', '/app/sign-in', credentials)).toBe(200);
});
