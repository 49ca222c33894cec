import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { opportunity } from '../../../test/support/opportunity.ts';
import { answering, openTestWebhooks, states } from '../../../test/support/webhooks.ts';

it('a process that sends again does not repeat deliveries whose outcomes it could not write yet', async () => {
  const t = await openTestWebhooks();
  await t.register();
  const to = answering(t, () => 200);
  let isUs = true;
  const dispatcher = await t.dispatcher(to, 'closed', { isUs: async () => isUs, leave: async () => {} });
  const writeOutcomes = async () => {
    await sql`drop trigger if exists no_outcomes`.execute(t.db);
    await t.clock.advance(10_000);
  };
  // A failed test must not wait for outcomes that cannot be written.
  onTestFinished(writeOutcomes);
  await sql`create trigger no_outcomes before update on webhook_deliveries
    begin select raise(fail, 'read-only'); end`.execute(t.db);
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 1 }));
  await t.clock.advance(100);
  isUs = false;
  await t.clock.advance(1_000);
  isUs = true;
  await t.clock.advance(10_000);
  expect([to.attempts.length, await states(t)]).toEqual([1, ['pending']]);
  await writeOutcomes();
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 2 }));
  await t.clock.advance(100);
  expect([to.attempts.length, await states(t)]).toEqual([2, ['delivered', 'delivered']]);
});
