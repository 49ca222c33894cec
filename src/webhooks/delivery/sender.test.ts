import { createHmac, randomBytes } from 'node:crypto';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { until } from '../../../test/support/localVenue.ts';
import { opportunity } from '../../../test/support/opportunity.ts';
import {
  type Certificate,
  makeCertificate,
  opensslAbsent,
  WebhookReceiver,
} from '../../../test/support/webhookReceiver.ts';
import { type Clock, systemClock } from '../../runtime/clock.ts';
import { parseChatTarget } from '../chat/chatTarget.ts';
import type { SigningWebhook } from '../registry/registration.ts';
import { AddressPolicy } from '../target/addresses.ts';
import { TargetGuard } from '../target/target.ts';
import type { Delivery } from './delivery.ts';
import { REPLY_BYTES_MAX } from './exchange.ts';
import { CONCURRENCY_MAX, DEADLINE_MS, WebhookSender } from './sender.ts';
import { createSecret } from './signature.ts';

const BODY = JSON.stringify(opportunity({ nowMs: Date.now() }));
const secret = createSecret(randomBytes);

/** Set to the present, which the verifiers compare with; no attempt meets its deadline unless the test advances it. */
const standing = () => new FakeClock(systemClock.now());

function delivery(): Delivery {
  return {
    ...{ deliveryId: 'dl_1', webhookId: 'wh_1', event: 'opportunity', tier: 'logical', ticker: 'BTC' },
    body: Buffer.from(BODY),
    ...{ expiresMs: Number.MAX_SAFE_INTEGER, attempts: 0, step: 0, dueMs: 0, log: [] },
  };
}

function webhook(url: string, facts: Partial<SigningWebhook> = {}): SigningWebhook {
  return {
    ...{ webhookId: 'wh_1', userId: 'usr_1', url, label: 'x', tiers: ['logical'], tickers: null },
    ...{ state: 'active', pauseReason: null, pausedMs: null, consecutiveFailures: 0, createdMs: 0 },
    ...{ activeSinceMs: 0, filtersSinceMs: {}, previousUntilMs: null },
    ...{ format: 'signed', events: ['opportunity'], target: url, chat: null, isOwnerOperator: false },
    secrets: { current: secret, previous: [] },
    ...facts,
  };
}

describe.skipIf(opensslAbsent)(`one attempt ${opensslAbsent ? `(skipped: ${opensslAbsent})` : ''}`, () => {
  let certificate: Certificate;
  let receiver: WebhookReceiver;
  let senders: WebhookSender[] = [];
  beforeAll(async () => {
    certificate = makeCertificate();
  });
  beforeEach(async () => {
    receiver = await new WebhookReceiver(certificate).listen();
  });
  afterEach(async () => {
    await Promise.all(senders.map((sender) => sender.close()));
    senders = [];
    await receiver.close();
  });

  function sender(options: { clock?: Clock; allowed?: string[]; ca?: string | null } = {}): WebhookSender {
    const guard = new TargetGuard(new AddressPolicy(options.allowed ?? ['127.0.0.0/8', '::1/128']));
    const ca = options.ca === null ? undefined : certificate.cert;
    const made = new WebhookSender({ clock: options.clock ?? standing(), guard, ca });
    senders.push(made);
    return made;
  }

  it('begins as many connections at once as attempts, whatever the result of the first', async () => {
    const silent = createServer();
    const accepted: Socket[] = [];
    silent.on('connection', (socket) => accepted.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void silent.close());
    const { port } = silent.address() as AddressInfo;
    const one = sender();
    let ended = 0;
    const attempts = Array.from({ length: CONCURRENCY_MAX + 1 }, () =>
      one.attempt(webhook(`https://127.0.0.1:${port}/`), delivery()).finally(() => ended++),
    );
    await until(() => accepted.length >= CONCURRENCY_MAX);
    expect(ended).toBe(0);
    for (const socket of accepted) socket.destroy();
    await one.close();
    await Promise.all(attempts);
  });

  it('posts the bytes with every header of the interface', async () => {
    const clock = standing();
    const result = await sender({ clock }).attempt(webhook(receiver.url()), delivery());
    expect(result).toMatchObject({ outcome: 'delivered', status: 200, error: null, responseHead: 'ok' });
    const [got] = receiver.received;
    expect(got?.method).toBe('POST');
    expect(got?.url).toBe('/hook?x=1');
    expect(got?.body.toString()).toBe(BODY);
    const headers = (got?.headers ?? {}) as Record<string, string>;
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Service-Webhook/1',
      'x-svc-tier': 'logical',
      'x-svc-ticker': 'BTC',
      'webhook-id': 'dl_1',
    });
    const hmac = createHmac('sha256', secret)
      .update(got?.body ?? '')
      .digest('hex');
    expect(headers['x-svc-signature']).toBe(hmac);
    expect(headers['webhook-timestamp']).toBe(String(Math.floor(clock.now() / 1000)));
    for (const Verifier of [StandardWebhook, SvixWebhook]) {
      expect(new Verifier(secret).verify(BODY, headers)).toEqual(JSON.parse(BODY));
    }
  });

  it('after rotations every secret of the last day verifies, and only the new one is in X-SVC-Signature', async () => {
    const [first, second] = [createSecret(randomBytes), createSecret(randomBytes)];
    const nowMs = systemClock.now();
    const attempt = async (firstUntilMs: number, secondUntilMs: number) => {
      const previous = [
        { secret: first, untilMs: firstUntilMs },
        { secret: null, untilMs: secondUntilMs },
        { secret: second, untilMs: secondUntilMs },
      ];
      const secrets = { current: secret, previous };
      await sender().attempt(webhook(receiver.url(), { secrets }), delivery());
      return (receiver.received.at(-1)?.headers ?? {}) as Record<string, string>;
    };
    const during = await attempt(nowMs + 60_000, nowMs + 120_000);
    for (const Verifier of [StandardWebhook, SvixWebhook]) {
      for (const known of [secret, first, second]) new Verifier(known).verify(BODY, during);
    }
    expect(during['x-svc-signature']).toBe(createHmac('sha256', secret).update(BODY).digest('hex'));
    const later = await attempt(1, nowMs + 60_000);
    for (const known of [secret, second]) new SvixWebhook(known).verify(BODY, later);
    expect(() => new SvixWebhook(first).verify(BODY, later)).toThrow(/No matching signature found/);
    const after = await attempt(1, 2);
    new SvixWebhook(secret).verify(BODY, after);
    expect(() => new SvixWebhook(second).verify(BODY, after)).toThrow(/No matching signature found/);
  });

  it('keeps connections and reuses them', async () => {
    const one = sender();
    for (let i = 0; i < 20; i++) await one.attempt(webhook(receiver.url()), delivery());
    expect(receiver.received).toHaveLength(20);
    // The second is opened before the first is known to be free again; one more for each pause of a busy machine.
    expect(receiver.connections).toBeLessThan(10);
  });

  it('connects to the new URL of a webhook after `forget`', async () => {
    const one = sender();
    await one.attempt(webhook(receiver.url()), delivery());
    one.forget('wh_1');
    const moved = webhook(receiver.url().replace('/hook?x=1', '/moved'));
    expect(await one.attempt(moved, delivery())).toMatchObject({ outcome: 'delivered', status: 200 });
    expect(receiver.received.map(({ url }) => url)).toEqual(['/hook?x=1', '/moved']);
    expect(receiver.connections).toBe(2);
  });

  it('ends an attempt in flight at `forget`', async () => {
    receiver.respond = () => {};
    const one = sender();
    const results: unknown[] = [];
    void one.attempt(webhook(receiver.url()), delivery()).then((result) => results.push(result));
    await until(() => receiver.received.length > 0);
    one.forget('wh_1');
    await until(() => results.length > 0);
    expect(results).toMatchObject([{ outcome: 'transport', status: null }]);
  });

  it.each([
    [204, 'delivered', null],
    [299, 'delivered', null],
    [300, 'refused', 'status 300, redirects are not followed'],
    [301, 'refused', 'status 301, redirects are not followed'],
    [302, 'refused', 'status 302, redirects are not followed'],
    [307, 'refused', 'status 307, redirects are not followed'],
    [308, 'refused', 'status 308, redirects are not followed'],
    [399, 'refused', 'status 399, redirects are not followed'],
    [400, 'refused', 'status 400'],
    [401, 'refused', 'status 401'],
    [410, 'refused', 'status 410'],
    [500, 'refused', 'status 500'],
  ])('status %i is %s', async (status, outcome, error) => {
    receiver.respond = (response) => {
      response.writeHead(status, status < 400 ? { location: receiver.url() } : {}).end();
    };
    const result = await sender().attempt(webhook(receiver.url()), delivery());
    expect(result).toMatchObject({ outcome, status, error });
    expect(receiver.received).toHaveLength(1);
  });

  it('reads Retry-After in seconds and as a date', async () => {
    receiver.respond = (response) => void response.writeHead(503, { 'retry-after': '7' }).end();
    const clock = standing();
    const one = sender({ clock });
    expect((await one.attempt(webhook(receiver.url()), delivery())).retryAfterMs).toBe(7000);
    const date = new Date(clock.now() + 90_000).toUTCString();
    receiver.respond = (response) => void response.writeHead(429, { 'retry-after': date }).end();
    const { retryAfterMs } = await one.attempt(webhook(receiver.url()), delivery());
    expect(retryAfterMs).toBe(Date.parse(date) - clock.now());
  });

  it('closes the connection after the first 20 kB of a reply, instead of waiting for its end', async () => {
    let isClosed = false;
    receiver.respond = (response) => {
      response.once('close', () => {
        isClosed = true;
      });
      response.write('x'.repeat(REPLY_BYTES_MAX));
    };
    const result = await sender().attempt(webhook(receiver.url()), delivery());
    expect(result).toMatchObject({ outcome: 'delivered', status: 200 });
    await until(() => isClosed);
  });

  it('reads at most 20 kB of an endless reply, and keeps an escaped head', async () => {
    let sent = 0;
    receiver.respond = (response) => {
      const chunk = `<script>\u202e\u0000&'"${'x'.repeat(10_000)}`;
      const more = () => {
        if (sent > 50 * 1024 * 1024 || response.destroyed) return;
        sent += chunk.length;
        if (response.write(chunk)) setImmediate(more);
        else response.once('drain', more);
      };
      more();
    };
    const result = await sender().attempt(webhook(receiver.url()), delivery());
    expect(result).toMatchObject({ outcome: 'delivered', status: 200 });
    expect(result.responseHead.startsWith('&lt;script&gt;\ufffd\ufffd&amp;&#39;&quot;xxx')).toBe(true);
    expect(result.responseHead.length).toBeLessThan(600);
    // Bytes that were in the kernel's buffers when the connection was cut.
    expect(sent).toBeLessThan(REPLY_BYTES_MAX + 8 * 1024 * 1024);
  });

  it('a certificate of an unknown authority, or of another name, is refused before anything is sent', async () => {
    const own = await sender({ ca: null }).attempt(webhook(receiver.url()), delivery());
    expect(own).toMatchObject({ outcome: 'transport', status: null, error: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    const other = await sender().attempt(webhook(receiver.url('127.0.0.2')), delivery());
    expect(other.outcome).toBe('transport');
    expect(receiver.received).toEqual([]);
  });

  it('NODE_TLS_REJECT_UNAUTHORIZED=0 does not switch verification off', async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const refused = await sender({ ca: null }).attempt(webhook(receiver.url()), delivery());
    expect(refused).toMatchObject({ outcome: 'transport', error: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(receiver.received).toEqual([]);
  });

  it('a refused connection and an unreadable secret are failures with their reason', async () => {
    const { port } = receiver;
    await receiver.close();
    const refused = await sender().attempt(webhook(`https://127.0.0.1:${port}/`), delivery());
    expect(refused).toMatchObject({ outcome: 'transport', error: 'ECONNREFUSED' });
    const secrets = { current: null, previous: [] };
    const unsigned = await sender().attempt(webhook('https://127.0.0.1/', { secrets }), delivery());
    expect(unsigned).toMatchObject({ outcome: 'secret', status: null });
    receiver = await new WebhookReceiver(certificate).listen();
  });

  it('to a URL that cannot be decrypted is not made, and says so', async () => {
    const unreadable = webhook(receiver.url(), { format: 'slack', target: null });
    expect(await sender().attempt(unreadable, delivery())).toMatchObject({
      ...{ outcome: 'secret', status: null },
      error: 'the URL cannot be decrypted; register the webhook again',
    });
    expect(receiver.received).toEqual([]);
  });

  describe('has five seconds in total', () => {
    let server: Server;
    let sockets: Socket[] = [];
    const stages: readonly [string, (port: number, socket: Socket) => void][] = [
      ['a silent connection without TLS', () => {}],
      ['a drip of bytes before any TLS', (_, socket) => void socket.write('\u0016')],
    ];
    afterEach(() => {
      for (const socket of sockets) socket.destroy();
      sockets = [];
      server?.close();
    });

    it.each(stages)('%s', async (_, behave) => {
      server = createServer((socket) => {
        sockets.push(socket);
        socket.on('error', () => undefined);
        behave(0, socket);
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as { port: number };
      const clock = new FakeClock();
      const attempt = sender({ clock }).attempt(webhook(`https://127.0.0.1:${port}/`), delivery());
      while (sockets.length === 0) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(DEADLINE_MS - 1);
      expect(clock.waiting).toBe(1);
      await clock.advance(1);
      expect(await attempt).toMatchObject({ outcome: 'timeout', status: null, latencyMs: DEADLINE_MS });
      expect((await attempt).error).toBe('no whole reply within 5 s');
    });

    it.each([
      ['no head', () => {}],
      [
        'a head without a body',
        (response: import('node:http').ServerResponse) => void response.flushHeaders(),
      ],
      ['a body that drips', (response: import('node:http').ServerResponse) => void response.write('x')],
    ])('%s', async (_, respond) => {
      receiver.respond = respond;
      const clock = new FakeClock();
      const attempt = sender({ clock }).attempt(webhook(receiver.url()), delivery());
      while (receiver.received.length === 0) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(DEADLINE_MS);
      expect(await attempt).toMatchObject({ outcome: 'timeout', status: null });
    });

    it('a name server that never answers', async () => {
      const clock = new FakeClock();
      const guard = new TargetGuard(new AddressPolicy([]), () => new Promise(() => {}));
      const slow = new WebhookSender({ clock, guard });
      senders.push(slow);
      const attempt = slow.attempt(webhook('https://slow.example/'), delivery());
      await clock.advance(DEADLINE_MS);
      expect(await attempt).toMatchObject({ outcome: 'timeout', latencyMs: DEADLINE_MS });
    });
  });

  it('is not sent any more if its connection opens too late', async () => {
    const clock = new FakeClock();
    const answers: ((addresses: string[]) => void)[] = [];
    const guard = new TargetGuard(
      new AddressPolicy(['127.0.0.0/8']),
      () => new Promise((resolve) => void answers.push(resolve)),
    );
    const slow = new WebhookSender({ clock, guard, ca: certificate.cert });
    senders.push(slow);
    const url = receiver.url('rebind.test');
    const late = slow.attempt(webhook(url), delivery());
    while (answers.length < 1) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(DEADLINE_MS);
    expect(await late).toMatchObject({ outcome: 'timeout' });
    const next = slow.attempt(webhook(url), { ...delivery(), deliveryId: 'dl_2' });
    while (answers.length < 2) await new Promise((resolve) => setImmediate(resolve));
    for (const answer of answers) answer(['127.0.0.1']);
    expect(await next).toMatchObject({ outcome: 'delivered' });
    while (receiver.connections < answers.length) await new Promise((resolve) => setImmediate(resolve));
    // By now the first would have been sent too: its connection was requested before this one's.
    await slow.attempt(webhook(receiver.url(), { webhookId: 'wh_2' }), { ...delivery(), deliveryId: 'dl_3' });
    expect(answers).toHaveLength(2);
    expect(receiver.received.map(({ headers }) => headers['webhook-id'])).toEqual(['dl_2', 'dl_3']);
  });

  it('closes the connections of replies that come too slowly, so that later deliveries have some', async () => {
    receiver.respond = (response) => void response.write('x');
    const clock = new FakeClock();
    const one = sender({ clock });
    const slow = Array.from({ length: CONCURRENCY_MAX }, () =>
      one.attempt(webhook(receiver.url()), delivery()),
    );
    await until(() => receiver.received.length === CONCURRENCY_MAX);
    await clock.advance(DEADLINE_MS);
    expect((await Promise.all(slow)).map(({ outcome }) => outcome)).toEqual(
      Array(CONCURRENCY_MAX).fill('timeout'),
    );
    receiver.respond = (response) => void response.end();
    const next = one.attempt(webhook(receiver.url()), delivery());
    await until(() => receiver.received.length > CONCURRENCY_MAX);
    expect(await next).toMatchObject({ outcome: 'delivered' });
  });

  it('pauses a chat whose headers say that no request is left', async () => {
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset-after': '1.5' };
    receiver.respond = (response) => void response.writeHead(200, headers).end();
    const chat = parseChatTarget('discord', new URL('https://discord.com/api/webhooks/1/verySecretToken'));
    const result = await sender().attempt(webhook(receiver.url(), { chat }), delivery());
    expect(result).toMatchObject({ outcome: 'delivered', pauseMs: 1_500 });
  });

  it('lasts as long as it did, though the wall clock is set meanwhile, and leaves no timer', async () => {
    const clock = standing();
    const startedMs = clock.now();
    receiver.respond = (response) => {
      clock.stepWall(-3_600_000);
      void clock.advance(40).then(() => response.end());
    };
    const result = await sender({ clock }).attempt(webhook(receiver.url()), delivery());
    expect(result).toMatchObject({ outcome: 'delivered', startedMs, latencyMs: 40 });
    expect(clock.waiting).toBe(0);
  });

  it('keeps the head of a reply that comes in parts', async () => {
    receiver.respond = (response) => {
      response.write('first, ', () => response.end('second'));
    };
    const { responseHead } = await sender().attempt(webhook(receiver.url()), delivery());
    expect(responseHead).toBe('first, second');
  });

  it('uses the final head, after informational ones', async () => {
    receiver.respond = (response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.writeHead(503, { 'retry-after': '3' }).end('busy');
    };
    const result = await sender().attempt(webhook(receiver.url()), delivery());
    expect(result).toMatchObject({ status: 503, retryAfterMs: 3000, responseHead: 'busy' });
  });

  it('a truncated reply counts as none', async () => {
    receiver.respond = (response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half');
      setImmediate(() => response.destroy());
    };
    const result = await sender().attempt(webhook(receiver.url()), delivery());
    expect(result).toMatchObject({ outcome: 'transport', status: null, responseHead: '' });
  });

  it('an address that is not allowed is not connected to', async () => {
    const result = await sender({ allowed: [] }).attempt(webhook(receiver.url()), delivery());
    expect(result).toMatchObject({
      outcome: 'target_refused',
      error: 'the address 127.0.0.1 is loopback',
    });
    expect(receiver.connections).toBe(0);
    // Control: the receiver does count connections.
    await new Promise<void>((resolve) => void connect(receiver.port, '127.0.0.1', resolve).end());
    while (receiver.connections === 0) await new Promise((resolve) => setImmediate(resolve));
  });

  afterAll(() => {
    expect(senders).toEqual([]);
  });
});
