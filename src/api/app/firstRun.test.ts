import { expect, it } from 'vitest';
import { openDashboard, PASSWORD } from '../../../test/support/dashboard.ts';

const path = '/app/sign-up';
const body = { email: 'a@example.com', password: PASSWORD };

it('a service has no operator until somebody signs up, however many were made on the command line', async () => {
  const { browser, accounts } = await openDashboard();
  for (let n = 0; n < 51; n++) await accounts.users.create(`made-${n}@example.com`);
  const asked = await browser().ask('GET', path);
  expect([asked.statusCode, asked.json()]).toEqual([200, { has_operator: false }]);
  expect(await browser().status('POST', path, body)).toBe(200);
  expect((await browser().ask('GET', path)).json()).toEqual({ has_operator: true });
});

it('it is not looked up again once there is one', async () => {
  const { browser, accounts } = await openDashboard();
  await browser().ask('POST', path, body);
  let looked = 0;
  const hasOperator = accounts.users.hasOperator.bind(accounts.users);
  accounts.users.hasOperator = async () => {
    looked++;
    return await hasOperator();
  };
  const answers = [await browser().ask('GET', path), await browser().ask('GET', path)];
  expect(answers.map((answer) => answer.json())).toEqual([{ has_operator: true }, { has_operator: true }]);
  expect(looked).toBe(1);
});
