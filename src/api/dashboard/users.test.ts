import { expect, it } from 'vitest';
import { openDashboard } from '../../../test/support/dashboard.ts';

it('a cursor continues the search that it belongs to, and no other', async () => {
  const { accounts, clock, signedUp } = await openDashboard();
  const operator = await signedUp('op@desk.example');
  for (const email of ['a@example.com', 'b@desk.example']) {
    await clock.advance(1);
    await accounts.users.create(email);
  }
  const ask = async (query: string) => {
    const answer = await operator.ask('GET', `/app/users?limit=1${query}`);
    const { users = [], next_cursor: next, detail } = answer.json();
    return { emails: users.map(({ email }: { email: string }) => email), next, detail };
  };
  const first = await ask('&search=desk');
  expect(first.emails).toEqual(['op@desk.example']);
  const second = await ask(`&search=desk&cursor=${first.next}`);
  expect(second).toEqual({ emails: ['b@desk.example'], next: null, detail: undefined });
  for (const search of ['', '&search=example'])
    expect(await ask(`${search}&cursor=${first.next}`)).toMatchObject({
      detail: 'cursor is not valid for this query',
    });
});
