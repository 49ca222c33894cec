import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { lateReads } from '../../../test/support/lateReads.ts';
import { opportunity } from '../../../test/support/opportunity.ts';
import { answering, openTestWebhooks, states, type TestWebhooks } from '../../../test/support/webhooks.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { LOG_AGE_MAX_MS, Retention } from './retention.ts';

/** A webhook with one delivered event, and the number of the log's rows. */
async function delivered() {
  const t = await openTestWebhooks();
  await t.register();
  const dispatcher = await t.dispatcher(answering(t, () => 200));
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
  await t.clock.advance(50);
  expect(await states(t)).toEqual(['delivered']);
  return { t, dispatcher };
}

async function rowsOf({ db }: TestWebhooks) {
  const deliveries = await db.selectFrom('webhook_deliveries').select('delivery_id').execute();
  const events = await db.selectFrom('webhook_events').select('event_id').execute();
  return { deliveries: deliveries.length, events: events.length };
}

/** Makes every row of the log this old. */
async function age({ db, clock }: TestWebhooks, ms: number): Promise<void> {
  const created_ms = clock.now() - ms;
  await db.updateTable('webhook_deliveries').set({ created_ms }).execute();
  await db.updateTable('webhook_events').set({ created_ms }).execute();
}

it('a delivery of seven days is kept; a millisecond later it is deleted and counted, with its event', async () => {
  const { t, dispatcher } = await delivered();
  await dispatcher.close();
  const metrics = new Metrics();
  const retention = new Retention(t.db, { clock: t.clock, log: silentLogger, metrics });
  await age(t, LOG_AGE_MAX_MS);
  await retention.prune();
  expect(await rowsOf(t)).toEqual({ deliveries: 1, events: 1 });
  await t.clock.advance(1);
  await retention.prune();
  expect(await rowsOf(t)).toEqual({ deliveries: 0, events: 0 });
  const counted = await metrics.registry.getSingleMetric('underround_webhook_log_deleted_total')?.get();
  expect(counted?.values.map(({ value }) => value)).toEqual([2]);
});

it('the sender deletes old deliveries once a minute, until it closes', async () => {
  const { t, dispatcher } = await delivered();
  await age(t, LOG_AGE_MAX_MS + 1);
  await t.clock.advance(59_000);
  expect(await rowsOf(t)).toEqual({ deliveries: 1, events: 1 });
  await t.clock.advance(1_000);
  expect(await rowsOf(t)).toEqual({ deliveries: 0, events: 0 });
  dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
  await t.clock.advance(50);
  expect(await states(t)).toEqual(['delivered']);
  await age(t, LOG_AGE_MAX_MS + 1);
  await t.clock.advance(60_000);
  expect(await rowsOf(t)).toEqual({ deliveries: 0, events: 0 });
  await dispatcher.close();
  expect(t.clock.waiting).toBe(0);
});

it('a webhook keeps 10,000 deliveries', async () => {
  const { t, dispatcher } = await delivered();
  await dispatcher.close();
  await sql`with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 10000)
    insert into webhook_deliveries (delivery_id, webhook_id, event_id, state, attempts, step, due_ms, created_ms,
      expires_ms, attempt_log) select 'dl_' || n, webhook_id, event_id, state, attempts, step, due_ms, created_ms,
      expires_ms, attempt_log from webhook_deliveries, numbers`.execute(t.db);
  expect(await rowsOf(t)).toEqual({ deliveries: 10_001, events: 1 });
  await new Retention(t.db, { clock: t.clock, log: silentLogger, metrics: new Metrics() }).prune();
  expect(await rowsOf(t)).toEqual({ deliveries: 10_000, events: 1 });
});

/** A round of deletion that waits, between its deliveries and its events, for a read; and its transactions so far. */
async function heldRound() {
  const { t, dispatcher } = await delivered();
  await dispatcher.close();
  const late = lateReads(t.db, 'created_ms');
  const transactions = { count: 0 };
  const metrics = { counter: () => ({ inc: () => transactions.count++ }) } as unknown as Metrics;
  const retention = new Retention(late.db, { clock: t.clock, log: silentLogger, metrics });
  retention.start();
  const reading = late.hold();
  await t.clock.advance(60_000);
  await reading;
  expect(transactions.count).toBe(1);
  return { t, late, retention, transactions };
}

it('while a round of deletion lasts, no other begins', async () => {
  const { t, late, retention, transactions } = await heldRound();
  await t.clock.advance(120_000);
  late.letGo();
  await t.clock.advance(0);
  expect(transactions.count).toBe(2);
  await retention.close();
});

it('a stop waits for the round of deletion, which begins no further transaction', async () => {
  const { t, late, retention, transactions } = await heldRound();
  let isClosed = false;
  const closing = retention.close().then(() => {
    isClosed = true;
  });
  await t.clock.advance(0);
  expect(isClosed).toBe(false);
  late.letGo();
  await closing;
  expect(transactions.count).toBe(1);
});

it('a log of exactly the allowed number is kept whole, however unevenly two webhooks share it', async () => {
  const t = await openTestWebhooks();
  for (const ticker of ['ETH', 'BTC'] as const) await t.register({ tickers: [ticker] });
  const dispatcher = await t.dispatcher(answering(t, () => 200));
  for (const [n, ticker] of (['ETH', 'ETH', 'BTC', 'BTC', 'BTC'] as const).entries())
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n }, { ticker }));
  await t.clock.advance(50);
  expect(await states(t)).toEqual(Array(5).fill('delivered'));
  await dispatcher.close();
  const parts = { clock: t.clock, log: silentLogger, metrics: new Metrics() };
  await new Retention(t.db, { ...parts, rowsMax: 5 }).prune();
  expect(await rowsOf(t)).toEqual({ deliveries: 5, events: 5 });
  await new Retention(t.db, { ...parts, rowsMax: 4 }).prune();
  expect(await rowsOf(t)).toEqual({ deliveries: 4, events: 4 });
});
