import { describe, expect, it, onTestFinished } from 'vitest';
import { DELIVERY, deliveryQueueOn } from '../../../test/support/deliveryQueues.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { lateReads } from '../../../test/support/lateReads.ts';
import { opportunity } from '../../../test/support/opportunity.ts';
import {
  answering,
  openTestWebhooks,
  replied,
  states,
  type TestWebhooks,
} from '../../../test/support/webhooks.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import type { Webhook } from '../registry/registration.ts';
import type { Delivery } from './delivery.ts';
import { FAILURES_MAX, RETRY_AFTER_MAX_MS, RETRY_DELAYS_MS, retryDelayMs } from './deliveryQueue.ts';
import { ALONE } from './soleSender.ts';

const rowOf = async ({ db }: TestWebhooks, webhookId: string) =>
  await db.selectFrom('webhooks').selectAll().where('webhook_id', '=', webhookId).executeTakeFirstOrThrow();

const slugsOf = (attempts: readonly { delivery: Delivery }[]): string[] =>
  attempts.map(({ delivery }) => JSON.parse(delivery.body.toString()).polymarket_slug);

/** Start times of the attempts of a message that succeeds at the eighth. */
async function attemptsOf(random: () => number): Promise<number[]> {
  const clock = new FakeClock();
  const times: number[] = [];
  const queue = deliveryQueueOn(clock, random, async () => {
    times.push(clock.now());
    return replied(times.length === 8 ? 200 : 500, clock);
  });
  queue.add(DELIVERY);
  await clock.advance(3_600_000);
  await queue.close();
  return times;
}

describe('an event', () => {
  it('is written before its first attempt, and delivered once to each webhook that wants it', async () => {
    const t = await openTestWebhooks();
    const all = await t.register();
    const btc = await t.register({ tickers: ['BTC'], tiers: ['logical'] });
    await t.register({ tickers: ['ETH', 'SOL'] });
    await t.register({ tiers: ['endgame'] });
    const seen: string[] = [];
    const dispatcher = await t.dispatcher({
      attempt: async ({ webhookId }, delivery) => {
        const row = t.db.selectFrom('webhook_deliveries').selectAll();
        const { state } = await row.where('delivery_id', '=', delivery.deliveryId).executeTakeFirstOrThrow();
        seen.push(`${webhookId} ${state}`);
        return replied(200, t.clock);
      },
    });
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
    await t.clock.advance(100);
    expect(seen.sort()).toEqual([`${all.webhookId} pending`, `${btc.webhookId} pending`].sort());
    expect(await states(t)).toEqual(['delivered', 'delivered']);
  });

  it('published twice is one delivery, by whichever process', async () => {
    const t = await openTestWebhooks();
    await t.register();
    const to = answering(t, () => 200);
    const [one, other] = [await t.dispatcher(to), await t.dispatcher(to)];
    const told = opportunity({ nowMs: t.clock.now() });
    one.enqueue(told);
    one.enqueue(told);
    await t.clock.advance(50);
    other.enqueue(told);
    await t.clock.advance(50);
    expect(to.attempts).toHaveLength(1);
    expect(await states(t)).toEqual(['delivered']);
  });

  it('for a webhook that another process has just registered is sent without waiting for the next poll', async () => {
    const t = await openTestWebhooks();
    const to = answering(t, () => 200);
    const dispatcher = await t.dispatcher(to);
    await t.register();
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
    await t.clock.advance(50);
    expect([to.attempts.length, await states(t)]).toEqual([1, ['delivered']]);
  });

  it('from before the registration, or during a pause, is never sent', async () => {
    const t = await openTestWebhooks();
    const to = answering(t, () => 200);
    const dispatcher = await t.dispatcher(to);
    const before = opportunity({ nowMs: t.clock.now(), n: 1 });
    await t.clock.advance(1);
    const { webhookId } = await t.register();
    dispatcher.enqueue(before);
    await t.clock.advance(10);
    await t.webhooks.registry.pause({ webhookId });
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 2 }));
    await t.clock.advance(10);
    const late = opportunity({ nowMs: t.clock.now(), n: 3 });
    await t.clock.advance(1);
    await t.webhooks.registry.resume({ webhookId });
    dispatcher.enqueue(late);
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 4 }));
    await t.clock.advance(2000);
    expect(slugsOf(to.attempts)).toEqual(['btc-updown-5m-4']);
  });

  it('is signed with the secret that was shown before its detection', async () => {
    const t = await openTestWebhooks();
    const { webhookId } = await t.register();
    const seen: (string | null)[] = [];
    const dispatcher = await t.dispatcher({
      attempt: async ({ secrets }) => {
        seen.push(secrets.current);
        return replied(200, t.clock);
      },
    });
    const { secret } = await t.webhooks.registry.rotate({ webhookId });
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
    await t.clock.advance(100);
    expect(seen).toEqual([secret]);
  });

  it('follows the filters at its acceptance; a change applies from the next event on', async () => {
    const t = await openTestWebhooks();
    const { webhookId } = await t.register({ tickers: ['BTC'] });
    const to = answering(t, () => 200);
    const dispatcher = await t.dispatcher(to);
    const tell = async (n: number, ticker: 'BTC' | 'ETH') => {
      dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n }, { ticker }));
      await t.clock.advance(50);
    };
    await tell(1, 'ETH');
    await tell(2, 'BTC');
    await t.webhooks.registry.update({ webhookId }, { tickers: ['ETH'] });
    await tell(3, 'BTC');
    await tell(4, 'ETH');
    await t.webhooks.registry.update({ webhookId }, { tiers: ['endgame'] });
    await tell(5, 'ETH');
    await t.webhooks.registry.update({ webhookId }, { tiers: null, tickers: null });
    await tell(6, 'BTC');
    expect(slugsOf(to.attempts)).toEqual(['btc-updown-5m-2', 'btc-updown-5m-4', 'btc-updown-5m-6']);
  });

  it('from before its filter was widened is not sent, also if a restart publishes it again', async () => {
    const t = await openTestWebhooks();
    const { webhookId } = await t.register({ tiers: ['logical'], tickers: ['BTC', 'SOL'] });
    const to = answering(t, () => 200);
    const first = await t.dispatcher(to);
    const nowMs = t.clock.now();
    const facts = [
      { ticker: 'ETH' },
      { ticker: 'BTC', tier: 'endgame', direction: 'BUY_YES' },
      { ticker: 'BTC' },
      { ticker: 'SOL' },
    ] as const;
    const told = facts.map((fact, n) => opportunity({ nowMs, n }, fact));
    // The last two were audited, but not accepted when the process died.
    for (const one of told.slice(0, 2)) first.enqueue(one);
    await t.clock.advance(100);
    expect(to.attempts).toEqual([]);
    await t.webhooks.registry.update({ webhookId }, { tiers: null, tickers: ['BTC', 'ETH'] });
    await first.close();
    const second = await t.dispatcher(to);
    for (const one of told) second.enqueue(one);
    facts.forEach((fact, n) => {
      second.enqueue(opportunity({ nowMs: t.clock.now(), n: n + 10 }, fact));
    });
    await t.clock.advance(100);
    const slugs = to.attempts.map(({ delivery }) => JSON.parse(String(delivery.body)).polymarket_slug);
    expect(slugs.map((slug) => Number(slug.split('-').at(-1))).sort((a, b) => a - b)).toEqual([
      2, 10, 11, 12,
    ]);
  });

  it('is still sent after a change of its webhook that leaves the filter unchanged', async () => {
    const t = await openTestWebhooks();
    const { webhookId } = await t.register({ tickers: ['BTC'] });
    const to = answering(t, () => 200);
    const dispatcher = await t.dispatcher(to);
    const told = opportunity({ nowMs: t.clock.now() });
    await t.clock.advance(100);
    await t.webhooks.registry.update({ webhookId }, { label: 'other', tiers: null, tickers: ['BTC'] });
    dispatcher.enqueue(told);
    await t.clock.advance(100);
    expect(to.attempts).toHaveLength(1);
  });

  it('does not go to a suspended user, and does again after the suspension', async () => {
    const t = await openTestWebhooks();
    await t.register();
    const to = answering(t, () => 200);
    const dispatcher = await t.dispatcher(to);
    const suspend = (ms: number | null) =>
      t.db.updateTable('users').set({ suspended_ms: ms }).where('user_id', '=', t.userId).execute();
    await suspend(1);
    await t.clock.advance(6000);
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 1 }));
    await t.clock.advance(100);
    expect(to.attempts).toEqual([]);
    await suspend(null);
    await t.clock.advance(7000);
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 2 }));
    await t.clock.advance(100);
    expect(to.attempts).toHaveLength(1);
  });

  it('is sent after the clock was set back behind the registration, unless it is old', async () => {
    const t = await openTestWebhooks();
    await t.register();
    const to = answering(t, () => 200);
    const dispatcher = await t.dispatcher(to);
    t.clock.stepWall(-3_600_000);
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now() - 60_000, n: 1 }));
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 2 }));
    await t.clock.advance(100);
    expect(slugsOf(to.attempts)).toEqual(['btc-updown-5m-2']);
  });

  it('stored during a pause by a process that had not seen it yet is not sent after the resumption', async () => {
    const t = await openTestWebhooks();
    const { webhookId } = await t.register();
    const to = answering(t, (_, n) => (n <= FAILURES_MAX ? 500 : 200));
    const sending = await t.dispatcher(to);
    const other = await t.dispatcher(to, 'closed', { isUs: async () => false, leave: async () => {} });
    other.enqueue(opportunity({ nowMs: t.clock.now(), n: 0 }));
    for (let n = 1; n < FAILURES_MAX; n++) sending.enqueue(opportunity({ nowMs: t.clock.now(), n }));
    await t.clock.advance(2_000);
    expect(await rowOf(t, webhookId)).toMatchObject({ state: 'paused', pause_reason: 'failures' });
    const tried = to.attempts.length;
    other.enqueue(opportunity({ nowMs: t.clock.now(), n: 100 }));
    await t.clock.advance(2_000);
    await t.webhooks.registry.resume({ webhookId });
    sending.enqueue(opportunity({ nowMs: t.clock.now(), n: 101 }));
    await t.clock.advance(2_000);
    expect(slugsOf(to.attempts.slice(tried))).toEqual(['btc-updown-5m-101']);
    expect(await states(t)).not.toContain('pending');
  });

  it('that does not match the published schema is refused, counted and not sent', async () => {
    const t = await openTestWebhooks();
    await t.register();
    const dispatcher = await t.dispatcher(answering(t, () => 200));
    dispatcher.enqueue(opportunity({ nowMs: 0 }, { fill_price: Number.NaN }));
    dispatcher.enqueue(opportunity({ nowMs: 0 }, { detected_at: 'soon' }));
    await t.clock.advance(100);
    expect(await states(t)).toEqual([]);
    const metrics = await t.metrics.registry.metrics();
    expect(metrics).toContain('underround_webhook_events_total{outcome="refused"} 2');
  });
});

describe('retries', () => {
  /** Reproducible pseudo-random numbers. */
  const seeded = (seed: number) => () => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
    return seed / 2 ** 31;
  };

  it('10,000 messages follow the schedule on a virtual clock, none outside its band', async () => {
    const random = seeded(7);
    const times: number[][] = [];
    for (let n = 0; n < 10_000; n++) times.push(await attemptsOf(random));
    let outside = 0;
    let gaps = 0;
    for (const attempts of times) {
      expect(attempts).toHaveLength(8);
      for (let i = 1; i < attempts.length; i++) {
        const base = RETRY_DELAYS_MS[Math.min(i, RETRY_DELAYS_MS.length) - 1] as number;
        const gap = (attempts[i] as number) - (attempts[i - 1] as number);
        gaps++;
        if (gap < base * 0.8 || gap > base * 1.2) outside++;
      }
    }
    expect({ messages: times.length, gaps, outside }).toEqual({ messages: 10_000, gaps: 70_000, outside: 0 });
  });

  it.each([
    [1, null, 0, 800],
    [1, null, 0.999999, 1200],
    [2, null, 0.5, 5000],
    [5, null, 0.5, 600_000],
    [50, null, 0.5, 600_000],
    [1, 30_000, 0.5, 30_000],
    [3, 1000, 0.5, 30_000],
    [1, 86_400_000, 0.5, RETRY_AFTER_MAX_MS],
  ])('step %i, Retry-After %j ms, random %f: %i ms', (step, retryAfterMs, chance, expected) => {
    expect(retryDelayMs(step, retryAfterMs, () => chance)).toBe(expected);
  });

  it('Retry-After is honoured', async () => {
    const t = await openTestWebhooks();
    await t.register();
    const to = answering(t, (_, n) => (n === 1 ? 503 : 200), 20_000);
    (await t.dispatcher(to)).enqueue(opportunity({ nowMs: t.clock.now() }));
    await t.clock.advance(30_000);
    expect(to.attempts.map(({ at }) => at - (to.attempts[0]?.at ?? 0))).toEqual([0, 20_000]);
  });

  it('end with 410, which counts as one failure', async () => {
    const t = await openTestWebhooks();
    const { webhookId } = await t.register();
    const to = answering(t, () => 410);
    (await t.dispatcher(to)).enqueue(opportunity({ nowMs: t.clock.now() }));
    await t.clock.advance(60_000);
    expect(to.attempts).toHaveLength(1);
    expect(await states(t)).toEqual(['failed']);
    expect(await rowOf(t, webhookId)).toMatchObject({ state: 'active', consecutive_failures: 1 });
  });

  it('end with the market', async () => {
    const t = await openTestWebhooks();
    await t.register();
    const to = answering(t, () => 500);
    (await t.dispatcher(to)).enqueue(opportunity({ nowMs: t.clock.now() }, { tau_minutes: 0.5 }));
    await t.clock.advance(120_000);
    expect(to.attempts.map(({ at }) => at - (to.attempts[0]?.at ?? 0))).toEqual([0, 1000, 6000]);
    expect(await states(t)).toEqual(['expired']);
  });
});

describe('ten failures in a row', () => {
  it('pause the webhook after exactly ten attempts; pending deliveries are skipped, and a resumption starts over', async () => {
    const t = await openTestWebhooks();
    const { webhookId } = await t.register();
    let status = 500;
    const to = answering(t, () => status);
    const dispatcher = await t.dispatcher(to);
    for (let n = 0; n < 30; n++) dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n }));
    await t.clock.advance(100);
    expect(to.attempts).toHaveLength(FAILURES_MAX);
    expect(await rowOf(t, webhookId)).toMatchObject({
      ...{ state: 'paused', pause_reason: 'failures', consecutive_failures: 10 },
    });
    expect(new Set(await states(t))).toEqual(new Set(['skipped']));
    expect(await states(t)).toHaveLength(30);
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 100 }));
    await t.clock.advance(3_600_000);
    expect(to.attempts).toHaveLength(FAILURES_MAX);
    status = 200;
    await t.webhooks.registry.resume({ webhookId });
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n: 101 }));
    await t.clock.advance(2000);
    expect(
      to.attempts
        .slice(FAILURES_MAX)
        .map(({ delivery }) => JSON.parse(String(delivery.body)).polymarket_slug),
    ).toEqual(['btc-updown-5m-101']);
    expect(await rowOf(t, webhookId)).toMatchObject({ state: 'active', consecutive_failures: 0 });
  });

  it('nine failures and a success reset the count', async () => {
    const t = await openTestWebhooks();
    const { webhookId } = await t.register();
    const to = answering(t, (_, n) => (n % 10 === 0 ? 200 : 500));
    const dispatcher = await t.dispatcher(to);
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }, { tau_minutes: 1440 }));
    await t.clock.advance(8 * 3_600_000);
    expect(to.attempts).toHaveLength(10);
    expect(await states(t)).toEqual(['delivered']);
    expect(await rowOf(t, webhookId)).toMatchObject({ state: 'active', consecutive_failures: 0 });
  });

  it('of one webhook affect no other', async () => {
    const t = await openTestWebhooks();
    const bad = await t.register();
    const good = await t.register();
    const seen: string[] = [];
    const dispatcher = await t.dispatcher({
      attempt: async ({ webhookId }) => {
        seen.push(webhookId);
        return replied(webhookId === bad.webhookId ? 500 : 200, t.clock);
      },
    });
    for (let n = 0; n < 50; n++) dispatcher.enqueue(opportunity({ nowMs: t.clock.now(), n }));
    await t.clock.advance(1000);
    expect(seen.filter((id) => id === good.webhookId)).toHaveLength(50);
    expect(await rowOf(t, good.webhookId)).toMatchObject({ state: 'active' });
    expect(await rowOf(t, bad.webhookId)).toMatchObject({ state: 'paused' });
  });

  it('a pause by its owner stops deliveries that wait for their next try', async () => {
    const t = await openTestWebhooks();
    const { webhookId } = await t.register();
    const to = answering(t, () => 500);
    const dispatcher = await t.dispatcher(to);
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
    await t.clock.advance(1500);
    expect(to.attempts).toHaveLength(2);
    await t.webhooks.registry.pause({ webhookId });
    await t.clock.advance(600_000);
    await t.webhooks.registry.resume({ webhookId });
    await t.clock.advance(600_000);
    expect(to.attempts).toHaveLength(2);
    expect(await states(t)).toEqual(['skipped']);
  });
});

describe('a restart', () => {
  it('sends a delivery without a written outcome again, under the same id', async () => {
    const t = await openTestWebhooks();
    await t.register();
    const ids: string[] = [];
    const attempt = async (_: unknown, { deliveryId }: Delivery) => {
      ids.push(deliveryId);
      return await new Promise<never>(() => {});
    };
    const lost = await t.dispatcher({ attempt }, 'killed');
    for (let n = 0; n < 25; n++) lost.enqueue(opportunity({ nowMs: t.clock.now(), n }));
    await t.clock.advance(10);
    expect(ids).toHaveLength(10);
    const to = answering(t, () => 200);
    await t.dispatcher(to);
    await t.clock.advance(100);
    expect(to.attempts).toHaveLength(25);
    expect(to.attempts.map(({ delivery }) => delivery.deliveryId)).toEqual(expect.arrayContaining(ids));
    expect(new Set(await states(t))).toEqual(new Set(['delivered']));
  });

  it('continues the pauses and the count of failures', async () => {
    const t = await openTestWebhooks();
    const { webhookId } = await t.register();
    const first = await t.dispatcher(answering(t, () => 500));
    first.enqueue(opportunity({ nowMs: t.clock.now() }));
    await t.clock.advance(1100);
    await first.close();
    expect(await rowOf(t, webhookId)).toMatchObject({ consecutive_failures: 2 });
    const to = answering(t, () => 500);
    const startedMs = t.clock.now();
    await t.dispatcher(to);
    await t.clock.advance(6000);
    expect(to.attempts.map(({ at }) => at - startedMs)).toEqual([4900]);
    expect(await rowOf(t, webhookId)).toMatchObject({ consecutive_failures: 3 });
  });

  it('drops deliveries that expired meanwhile', async () => {
    const t = await openTestWebhooks();
    await t.register();
    const first = await t.dispatcher(answering(t, () => 500));
    first.enqueue(opportunity({ nowMs: t.clock.now() }, { tau_minutes: 1 }));
    await t.clock.advance(100);
    await first.close();
    await t.clock.advance(3_600_000);
    const to = answering(t, () => 200);
    await t.dispatcher(to);
    await t.clock.advance(1000);
    expect(to.attempts).toEqual([]);
    expect(await states(t)).toEqual(['expired']);
  });

  it('with more than fits into memory sends all of it, each once', async () => {
    const t = await openTestWebhooks();
    await t.register();
    const stuck = await t.dispatcher({ attempt: () => new Promise(() => {}) }, 'killed');
    for (let n = 0; n < 2500; n++) stuck.enqueue(opportunity({ nowMs: t.clock.now(), n }));
    await t.clock.advance(500);
    const to = answering(t, () => 200);
    await t.dispatcher(to);
    await t.clock.advance(15_000);
    expect(to.attempts).toHaveLength(2500);
    expect(new Set(to.attempts.map(({ delivery }) => delivery.deliveryId)).size).toBe(2500);
  });
});

it('a dispatcher that closes during a poll attempts nothing; the next one sends those deliveries', async () => {
  const t = await openTestWebhooks();
  const { webhookId } = await t.register();
  const own = await openControlDatabase({ dataDir: t.dataDir, databaseUrl: null });
  onTestFinished(() => own.destroy());
  const late = lateReads(own, 'due');
  const to = answering(t, () => 200);
  const dispatcher = await t.dispatcher(to, 'killed', ALONE, late.db);
  const webhook = await t.webhooks.registry.find({ webhookId });
  await t.webhooks.log.sendTest(webhook as Webhook);
  const polling = late.hold();
  dispatcher.wake();
  await polling;
  const closed = dispatcher.close();
  late.letGo();
  await t.clock.advance(1_000);
  await closed;
  expect([to.attempts, await states(t)]).toEqual([[], ['pending']]);
  await t.dispatcher(to);
  await t.clock.advance(100);
  expect([to.attempts.length, await states(t)]).toEqual([1, ['delivered']]);
});
