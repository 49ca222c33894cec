import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DELIVERY, deliveryQueueOn } from '../../../test/support/deliveryQueues.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { opportunity } from '../../../test/support/opportunity.ts';
import { makeCertificate, opensslAbsent, WebhookReceiver } from '../../../test/support/webhookReceiver.ts';
import { answering, openTestWebhooks, replied } from '../../../test/support/webhooks.ts';
import { InvalidInputError, OperatorOnlyError, UnsignedWebhookError } from '../../runtime/errors.ts';
import { RETRY_DELAYS_MS } from '../delivery/deliveryQueue.ts';
import { type AttemptResult, WebhookSender } from '../delivery/sender.ts';
import { createSecret } from '../delivery/signature.ts';
import { toSigningWebhook } from '../registry/registration.ts';
import { AddressPolicy } from '../target/addresses.ts';
import { TargetGuard } from '../target/target.ts';
import { CHAT_PAUSE_MAX_MS, chatPauseMs } from './chatReply.ts';
import { parseChatTarget } from './chatTarget.ts';

const TOKEN = 'AAH-3n_verySecretTokenOfABot';
const pathOf = {
  telegram: `/bot110201543:${TOKEN}/sendMessage?chat_id=-42`,
  discord: `/api/webhooks/1234567890/${TOKEN}`,
  slack: `/services/T00000000/B00000000/${TOKEN}`,
} as const;
const telegram = (chat: string) =>
  parseChatTarget('telegram', new URL(`https://x/bot1:${TOKEN}/sendMessage?chat_id=${chat}`));
const NO_RATE = { retryAfter: undefined, remaining: undefined, resetAfter: undefined };

describe('a chat registration', () => {
  it('shows neither token nor secret, stores its URL encrypted, and has no secret to rotate', async () => {
    const t = await openTestWebhooks();
    const url = `https://api.telegram.org${pathOf.telegram}`;
    const { webhookId, secret } = await t.register({ format: 'telegram', url });
    expect(secret).toBe('');
    const row = await t.db.selectFrom('webhooks').selectAll().executeTakeFirstOrThrow();
    expect(JSON.stringify(row)).not.toContain(TOKEN);
    expect(JSON.stringify(await t.webhooks.registry.list())).not.toContain(TOKEN);
    expect(row.url).toBe('https://api.telegram.org/bot110201543:***/sendMessage?chat_id=-42');
    expect(toSigningWebhook(row, t.webhooks.box).target).toBe(url);
    await expect(t.webhooks.registry.rotate({ webhookId })).rejects.toThrow(new UnsignedWebhookError());
  });

  it('is refused at a private address like any other', async () => {
    const t = await openTestWebhooks();
    const url = `https://127.0.0.1${pathOf.discord}`;
    await expect(t.register({ format: 'discord', url })).rejects.toThrow(InvalidInputError);
  });

  it('with system events is refused unless the user is an operator', async () => {
    const t = await openTestWebhooks();
    await expect(t.register({ events: ['system.gap'] })).rejects.toThrow(OperatorOnlyError);
    const { webhookId } = await t.register();
    await expect(t.webhooks.registry.update({ webhookId }, { events: ['system.lag'] })).rejects.toThrow(
      OperatorOnlyError,
    );
    await t.db.updateTable('users').set({ operator_ms: 1 }).execute();
    const changed = await t.webhooks.registry.update({ webhookId }, { events: ['system.lag'] });
    expect(changed.events).toEqual(['system.lag']);
  });
});

describe('the queue of a chat', () => {
  it('begins one message at a time, at the pace of its service', async () => {
    const clock = new FakeClock();
    const times: number[] = [];
    const startMs = clock.now();
    const attempt = async () => {
      times.push(clock.now() - startMs);
      return replied(200, clock);
    };
    const queue = deliveryQueueOn(clock, () => 0.5, attempt, { format: 'telegram', chat: telegram('-42') });
    for (const n of [1, 2, 3]) queue.add({ ...DELIVERY, deliveryId: `dl_${n}` });
    await clock.advance(10_000);
    await queue.close();
    expect(times).toEqual([0, 3_000, 6_000]);
  });

  it('sends nothing at all until the end of the pause that its service names, and is never paused for it', async () => {
    const clock = new FakeClock();
    const startMs = clock.now();
    const times: number[] = [];
    const health: unknown[] = [];
    const limited = (): AttemptResult => ({
      ...{ ...replied(429, clock, 60_000), outcome: 'rate_limited', pauseMs: 60_000 },
    });
    const attempt = async () => {
      times.push(clock.now() - startMs);
      return times.length <= 12 ? limited() : replied(200, clock);
    };
    const queue = deliveryQueueOn(clock, () => 0.5, attempt, { format: 'telegram', chat: telegram('42') });
    for (const n of [1, 2]) queue.add({ ...DELIVERY, deliveryId: `dl_${n}` });
    await clock.advance(13 * 60_000);
    await queue.close();
    expect(times).toEqual([...Array.from({ length: 13 }, (_, n) => n * 60_000), 12 * 60_000 + 1_000]);
    expect(health).toEqual([]);
  });

  it('waits as usual after any other failure', async () => {
    const clock = new FakeClock();
    const startMs = clock.now();
    const times: number[] = [];
    const attempt = async () => {
      times.push(clock.now() - startMs);
      return replied(times.length === 1 ? 500 : 200, clock);
    };
    const queue = deliveryQueueOn(clock, () => 0.5, attempt, { format: 'slack', chat: telegram('42') });
    queue.add(DELIVERY);
    await clock.advance(10_000);
    await queue.close();
    expect(times).toEqual([0, RETRY_DELAYS_MS[0]]);
  });

  it('is filled by the same events as that of a signed webhook', async () => {
    const t = await openTestWebhooks();
    await t.register({ format: 'slack', url: `https://hooks.slack.com${pathOf.slack}` });
    const to = answering(t, () => 200);
    const dispatcher = await t.dispatcher(to);
    dispatcher.enqueue(opportunity({ nowMs: t.clock.now() }));
    await t.clock.advance(100);
    expect(to.attempts).toHaveLength(1);
  });
});

describe('the pause after a reply', () => {
  it.each([
    ['a header', 429, { ...NO_RATE, retryAfter: '35' }, '', 35_000],
    ['a header with decimals', 429, { ...NO_RATE, retryAfter: '0.355' }, '', 355],
    ['Telegram’s body', 429, NO_RATE, '{"ok":false,"parameters":{"retry_after":7}}', 7_000],
    ['Discord’s body', 429, NO_RATE, '{"retry_after":0.3,"global":false}', 300],
    ['a header rather than the body', 429, { ...NO_RATE, retryAfter: '2' }, '{"retry_after":9}', 2_000],
    ['a fraction of a millisecond, rounded up', 429, { ...NO_RATE, retryAfter: '0.0001' }, '', 1],
    ['a date, which no chat sends', 429, { ...NO_RATE, retryAfter: 'Sun, 22 Nov 2026' }, '', 30_000],
    ['a negative number', 429, NO_RATE, '{"retry_after":-1}', 30_000],
    ['nothing', 429, NO_RATE, 'slow down', 30_000],
    ['more than an hour', 429, { ...NO_RATE, retryAfter: '99999' }, '', CHAT_PAUSE_MAX_MS],
    ['no requests left', 204, { ...NO_RATE, remaining: '0', resetAfter: '1.5' }, '', 1_500],
    ['no requests left for an unknown time', 204, { ...NO_RATE, remaining: '0' }, '', null],
    ['requests left', 204, { ...NO_RATE, remaining: '3', resetAfter: '1.5' }, '', null],
    ['an error of another kind', 500, { ...NO_RATE, retryAfter: '35' }, '', null],
  ])('follows from %s', (_, status, headers, body, pauseMs) => {
    expect(chatPauseMs(status, headers, Buffer.from(body))).toBe(pauseMs);
  });
});

describe.skipIf(opensslAbsent)(
  `a message over TLS ${opensslAbsent ? `(skipped: ${opensslAbsent})` : ''}`,
  () => {
    const certificate = opensslAbsent ? { key: '', cert: '' } : makeCertificate();
    let receiver: WebhookReceiver;
    beforeAll(async () => {
      receiver = await new WebhookReceiver(certificate).listen();
    });
    afterAll(() => receiver.close());

    it.each([
      ['telegram', `/bot110201543:${TOKEN}/sendMessage`, 'text'],
      ['discord', pathOf.discord, 'content'],
      ['slack', pathOf.slack, 'text'],
    ] as const)(
      'to %s has its text, no signature, and its reply is shown without the token',
      async (format, path, member) => {
        const sender = new WebhookSender({
          ...{ clock: new FakeClock(), ca: certificate.cert },
          guard: new TargetGuard(new AddressPolicy(['127.0.0.0/8'])),
        });
        onTestFinished(() => sender.close());
        const target = `https://127.0.0.1:${receiver.port}${pathOf[format]}`;
        const chat = parseChatTarget(format, new URL(target));
        receiver.respond = (response, { url }) =>
          void response.writeHead(429, { 'retry-after': '5' }).end(`no ${url}`);
        const body = Buffer.from(JSON.stringify(opportunity({ nowMs: 0 })));
        const result = await sender.attempt(
          {
            ...{ webhookId: 'wh_1', userId: 'usr_1', url: chat.shown, target, chat, format, label: 'x' },
            ...{ events: ['opportunity'], tiers: ['logical'], tickers: null, isOwnerOperator: false },
            ...{ state: 'active', pauseReason: null, pausedMs: null, consecutiveFailures: 0, createdMs: 0 },
            ...{ activeSinceMs: 0, filtersSinceMs: {}, previousUntilMs: null },
            secrets: { current: createSecret(randomBytes), previous: [] },
          },
          { ...DELIVERY, body },
        );
        const got = receiver.received.at(-1)!;
        expect(got.url).toBe(path);
        expect(Object.keys(got.headers).filter((name) => /^(?:x-svc|webhook)/.test(name))).toEqual([]);
        expect(got.headers).toMatchObject({
          'content-type': 'application/json',
          'user-agent': 'Service-Webhook/1',
        });
        expect(JSON.parse(got.body.toString())[member]).toContain('BTC 5m: buy YES and NO');
        expect(result).toMatchObject({
          outcome: 'rate_limited',
          status: 429,
          pauseMs: 5_000,
          retryAfterMs: 5_000,
        });
        expect(result.responseHead).toContain('***');
        expect(JSON.stringify(result)).not.toContain(TOKEN);
      },
    );
  },
);
