import { randomBytes } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { FOLLOWED } from '../../../test/support/followed.ts';
import { opportunity } from '../../../test/support/opportunity.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { openTestWebhooks } from '../../../test/support/webhooks.ts';
import { UserRepository } from '../../accounts/users/users.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { Opportunity } from '../../schema/opportunity.ts';
import { openWebhookControl, pausedFindings, startWebhooks } from './service.ts';

const UNREACHABLE = 'https://127.0.0.1:1/in';
const ALL = { startMs: null, endMs: null, state: null };

it('the service sends published signals and its own findings, and nothing after it was closed', async () => {
  const dataDir = temporaryDirectory();
  const database = await openControlDatabase({ dataDir, databaseUrl: null });
  onTestFinished(() => database.destroy());
  const clock = new FakeClock();
  const { userId } = await new UserRepository(database, { clock, randomBytes }).create(
    'a@example.com',
    'premium',
  );
  await database.updateTable('users').set({ operator_ms: 1 }).execute();
  const config = {
    dataDir,
    databaseUrl: null,
    secretKey: null,
    webhookAllowedNetworks: ['127.0.0.0/8'],
    ...FOLLOWED,
  };
  const control = openWebhookControl({ config, database, clock, randomBytes });
  const wanted = { userId, url: UNREACHABLE, label: 'bot', tiers: null, tickers: null };
  const failing = await control.registry.create(wanted);
  const events = ['system.lag', 'system.webhook_paused'] as const;
  const watching = await control.registry.create({ ...wanted, label: 'watch', events });
  const listeners: ((event: Opportunity) => void)[] = [];
  const subscribe = (_topic: string, listener: (event: Opportunity) => void) => {
    listeners.push(listener);
    return () => void listeners.splice(listeners.indexOf(listener), 1);
  };
  const finding = { event: 'system.lag', subject: 'store', level: 'bad', summary: 'Behind.' } as const;
  const service = await startWebhooks({
    ...{ config, database, bus: { subscribe } as never, clock, random: () => 0.5, randomBytes },
    ...{ log: silentLogger, metrics: new Metrics() },
    system: { findings: async () => [finding], url: 'https://u.example.com/status' },
  });
  const pageOf = async (webhookId = '') =>
    await service.log.page(webhookId, { limit: 9, after: null, range: ALL });
  const [publish] = listeners;
  publish?.(opportunity({ nowMs: clock.now() }));
  const failed = async () => (await pageOf(failing?.webhook.webhookId))[0]?.log[0]?.error;
  while ((await failed()) === undefined) await clock.advance(0).then(() => clock.advance(10));
  expect(await failed()).toBe('ECONNREFUSED');
  await database
    .updateTable('webhooks')
    .set({ state: 'paused', pause_reason: 'failures' })
    .where('label', '=', 'bot')
    .execute();
  await clock.advance(5_000);
  const bodies = async () => {
    const rows = await database.selectFrom('webhook_events').select('body').where('tier', '=', '').execute();
    return rows.map(({ body }) => JSON.parse(body));
  };
  await clock.advance(5_000);
  expect(await bodies()).toMatchObject([
    { type: 'system.lag', summary: 'Behind.', url: 'https://u.example.com/status' },
    { type: 'system.webhook_paused', subject: failing?.webhook.webhookId },
  ]);
  expect((await pageOf(watching?.webhook.webhookId)).map(({ event }) => event).sort()).toEqual(
    [...events].sort(),
  );
  service.wake();
  await service.close();
  expect([listeners.length, clock.waiting]).toEqual([0, 0]);
  publish?.(opportunity({ nowMs: clock.now(), n: 1 }));
  await clock.advance(60_000);
  expect(await service.log.count(failing?.webhook.webhookId ?? '', ALL)).toBe(1);
});

it('a start that fails leaves neither a listener nor a timer', async () => {
  const dataDir = temporaryDirectory();
  const database = await openControlDatabase({ dataDir, databaseUrl: null });
  onTestFinished(() => database.destroy());
  await database.schema.dropTable('audit_rows').execute();
  const clock = new FakeClock();
  let listeners = 0;
  const subscribe = () => {
    listeners++;
    return () => void listeners--;
  };
  const config = { dataDir, databaseUrl: null, secretKey: null, webhookAllowedNetworks: [], ...FOLLOWED };
  const starting = startWebhooks({
    ...{ config, database, bus: { subscribe }, clock, random: () => 0.5, randomBytes },
    ...{ log: silentLogger, metrics: new Metrics() },
  });
  await expect(starting).rejects.toThrow('no such table: audit_rows');
  expect([listeners, clock.waiting]).toEqual([0, 0]);
});

it('of the webhooks that failures paused, the newest pauses are reported first', async () => {
  const { db, register, webhooks } = await openTestWebhooks();
  const pausedMs = { first: 10, third: 30, second: 20 };
  for (const [label, paused_ms] of Object.entries(pausedMs)) {
    await register({ label });
    const failed = { state: 'paused', pause_reason: 'failures', paused_ms } as const;
    await db.updateTable('webhooks').set(failed).where('label', '=', label).execute();
  }
  const { webhookId } = await register({ label: 'own' });
  await webhooks.registry.pause({ webhookId });
  expect((await pausedFindings(db)).map(({ summary }) => summary)).toEqual(
    ['third', 'second', 'first'].map(
      (label) => `The webhook “${label}” of a@example.com is paused after ten failed attempts.`,
    ),
  );
});

it('an incident that is found while the service stops is accepted before it ends', async () => {
  const t = await openTestWebhooks();
  await t.db.updateTable('users').set({ operator_ms: 1 }).execute();
  await t.register({ events: ['system.lag'] });
  const config = { dataDir: t.dataDir, databaseUrl: null, secretKey: '1'.repeat(64) };
  const finding = { event: 'system.lag', subject: 'store', level: 'bad', summary: 'Behind.' } as const;
  let find: () => void = () => undefined;
  const service = await startWebhooks({
    ...{ database: t.db, bus: { subscribe: () => () => undefined }, clock: t.clock, random: () => 0.5 },
    config: { ...config, webhookAllowedNetworks: [], ...FOLLOWED },
    ...{ randomBytes, log: silentLogger, metrics: new Metrics() },
    system: {
      findings: () => new Promise((resolve) => (find = () => resolve([finding]))),
      url: null,
    },
  });
  await t.clock.advance(5_000);
  const closing = service.close();
  await t.clock.advance(0);
  find();
  await closing;
  expect(await t.db.selectFrom('webhook_events').select('event').execute()).toEqual([
    { event: 'system.lag' },
  ]);
});

it('a delivery stored by its owner is attempted as soon as the service is woken, not at the next poll', async () => {
  const t = await openTestWebhooks({ allowed: ['127.0.0.0/8'] });
  const { webhookId } = await t.register({ url: UNREACHABLE });
  const config = { dataDir: t.dataDir, databaseUrl: null, secretKey: '1'.repeat(64) };
  const service = await startWebhooks({
    ...{ database: t.db, bus: { subscribe: () => () => undefined }, clock: t.clock, random: () => 0.5 },
    config: { ...config, webhookAllowedNetworks: ['127.0.0.0/8'], ...FOLLOWED },
    ...{ randomBytes, log: silentLogger, metrics: t.metrics },
  });
  onTestFinished(() => service.close());
  await service.log.sendTest((await service.registry.find({ webhookId }))!);
  service.wake();
  const attempts = async () =>
    (await t.metrics.registry.getSingleMetric('underround_webhook_attempts_total')?.get())?.values;
  await expect.poll(attempts).toMatchObject([{ labels: { outcome: 'transport' }, value: 1 }]);
});
