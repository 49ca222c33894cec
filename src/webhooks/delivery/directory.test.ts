import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { FOLLOWED } from '../../../test/support/followed.ts';
import { lateReads } from '../../../test/support/lateReads.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { openTestWebhooks, type TestWebhooks } from '../../../test/support/webhooks.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import { WebhookDirectory } from './directory.ts';
import { openWebhooks } from './webhooks.ts';

/** Webhooks of a process whose key is in a file of the directory. */
const openIn = ({ db, clock }: TestWebhooks, dataDir: string, { isReader = false } = {}) =>
  openWebhooks(db, {
    config: { dataDir, secretKey: null, webhookAllowedNetworks: [], ...FOLLOWED },
    sources: { clock, randomBytes },
    resolve: async () => ['93.184.215.14'],
    ...(isReader ? { isReader } : {}),
  });

it('reads the secrets of webhooks that an earlier process registered', async () => {
  const t = await openTestWebhooks();
  const dataDir = temporaryDirectory();
  const issued = await openIn(t, dataDir).registry.create({
    ...{ userId: t.userId, url: 'https://hooks.example.com/in', label: 'bot', tiers: null, tickers: null },
  });
  const { box } = openIn(t, dataDir);
  const [webhook] = await new WebhookDirectory({ box, clock: t.clock }).current(t.db);
  expect(webhook?.secrets.current).toBe(issued?.secret);
});

it('a reader of webhooks needs no key and leaves none in the directory', async () => {
  const t = await openTestWebhooks();
  const dataDir = temporaryDirectory();
  const { webhookId } = await t.register();
  const { registry } = openIn(t, dataDir, { isReader: true });
  expect((await registry.list()).map((webhook) => webhook.webhookId)).toEqual([webhookId]);
  expect(readdirSync(dataDir)).toEqual([]);
});

it('knows a webhook from its registration to its deletion, without waiting', async () => {
  const t = await openTestWebhooks();
  const directory = new WebhookDirectory({ box: t.webhooks.box, clock: t.clock });
  const known = async () => (await directory.current(t.db)).map(({ webhookId }) => webhookId);
  expect(await known()).toEqual([]);
  const { webhookId } = await t.register();
  expect(await known()).toEqual([webhookId]);
  await t.webhooks.registry.delete({ webhookId });
  expect(await known()).toEqual([]);
});

it('decrypts only changed secrets when any registration changes', async () => {
  const t = await openTestWebhooks();
  const ids: string[] = [];
  for (let n = 0; n < 5; n++) ids.push((await t.register()).webhookId);
  const [changed = '', ...others] = ids;
  const opened: string[] = [];
  const { box } = t.webhooks;
  const watched = {
    seal: box.seal.bind(box),
    open: (text: string, id: string) => {
      opened.push(id);
      return box.open(text, id);
    },
  };
  const directory = new WebhookDirectory({ box: watched as typeof box, clock: t.clock });
  const before = await directory.current(t.db);
  expect(opened.splice(0).sort()).toEqual(ids.toSorted());
  await t.webhooks.registry.update({ webhookId: changed }, { tickers: ['SOL'] });
  await t.webhooks.registry.pause({ webhookId: changed });
  const after = await directory.current(t.db);
  expect(opened).toEqual([]);
  expect(after.map(({ secrets }) => secrets)).toEqual(before.map(({ secrets }) => secrets));
  expect(after.find(({ webhookId }) => webhookId === changed)).toMatchObject({
    ...{ tickers: ['SOL'], state: 'paused' },
  });
  const { secret } = await t.webhooks.registry.rotate({ webhookId: changed });
  const rotated = (await directory.current(t.db)).find(({ webhookId }) => webhookId === changed);
  expect(rotated?.secrets).toEqual({
    current: secret,
    previous: [
      {
        secret: before.find(({ webhookId }) => webhookId === changed)?.secrets.current,
        untilMs: t.clock.now() + 86_400_000,
      },
    ],
  });
  expect(new Set(opened)).toEqual(new Set([changed]));
  await t.webhooks.registry.delete({ webhookId: changed });
  expect((await directory.current(t.db)).map(({ webhookId }) => webhookId).sort()).toEqual(others.sort());
});

it('of two concurrent reads, the slower does not return the older state', async () => {
  const t = await openTestWebhooks();
  const { webhookId } = await t.register();
  const directory = new WebhookDirectory({ box: t.webhooks.box, clock: t.clock });
  const other = await openControlDatabase({ dataDir: t.dataDir, databaseUrl: null });
  onTestFinished(() => other.destroy());
  const late = lateReads(other, 'webhook_id');
  const reading = late.hold();
  const slower = directory.current(late.db);
  await reading;
  const { secret } = await t.webhooks.registry.rotate({ webhookId });
  const secretOf = ([webhook]: Awaited<typeof slower>) => webhook?.secrets.current;
  expect(secretOf(await directory.current(t.db))).toBe(secret);
  late.letGo();
  expect(secretOf(await slower)).toBe(secret);
  expect(secretOf(await directory.current(t.db))).toBe(secret);
});

it('notices after five seconds that a user was suspended, which changes no registration', async () => {
  const t = await openTestWebhooks();
  await t.register();
  const directory = new WebhookDirectory({ box: t.webhooks.box, clock: t.clock });
  const state = async () => (await directory.current(t.db))[0]?.state;
  await state();
  await t.db.updateTable('users').set({ suspended_ms: 1 }).execute();
  await t.clock.advance(4_999);
  expect(await state()).toBe('active');
  await t.clock.advance(1);
  expect(await state()).toBe('paused');
});

it('knows whether the owner of a webhook is an operator', async () => {
  const t = await openTestWebhooks();
  await t.register();
  const directory = new WebhookDirectory({ box: t.webhooks.box, clock: t.clock });
  const isOperator = async () => (await directory.current(t.db)).map((webhook) => webhook.isOwnerOperator);
  expect(await isOperator()).toEqual([false]);
  await t.db.updateTable('users').set({ operator_ms: 1 }).execute();
  await t.clock.advance(5_000);
  expect(await isOperator()).toEqual([true]);
});
