import { connect } from 'node:net';
import { Agent, request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { WebhookSender } from '../../src/webhooks/delivery/sender.ts';
import { AddressPolicy } from '../../src/webhooks/target/addresses.ts';
import { guardedConnector } from '../../src/webhooks/target/connector.ts';
import { hostOf, parseTarget, TargetGuard } from '../../src/webhooks/target/target.ts';
import { PUBLIC_HOSTS, REFUSED_HOSTS } from '../support/addressVectors.ts';
import { FakeClock } from '../support/fakeClock.ts';
import {
  type Certificate,
  makeCertificate,
  opensslAbsent,
  WebhookReceiver,
} from '../support/webhookReceiver.ts';

const REBINDINGS = 1_000;

/** A canary listens on every address of this machine: each connection to it is counted, before any TLS. */
describe.skipIf(opensslAbsent)(
  `a canary on this machine ${opensslAbsent ? '(skipped: no openssl)' : ''}`,
  () => {
    let certificate: Certificate;
    let canary: WebhookReceiver;
    beforeAll(async () => {
      certificate = makeCertificate();
      canary = await new WebhookReceiver(certificate).listen('::');
    });
    beforeEach(() => {
      canary.connections = 0;
    });
    afterAll(() => canary.close());

    const senderOn = (guard: TargetGuard) =>
      new WebhookSender({ clock: new FakeClock(), guard, ca: certificate.cert });
    const webhook = (url: string) => ({
      ...({
        webhookId: 'wh_1',
        userId: 'usr_1',
        ...({ url, target: url, format: 'signed', events: ['opportunity'], chat: null } as const),
        isOwnerOperator: false,
        label: 'x',
        tiers: ['logical'],
        tickers: null,
      } as const),
      ...({
        state: 'active',
        pauseReason: null,
        pausedMs: null,
        consecutiveFailures: 0,
        createdMs: 0,
      } as const),
      ...{ activeSinceMs: 0, filtersSinceMs: {}, previousUntilMs: null },
      secrets: { current: `whsec_${'A'.repeat(32)}`, previous: [] },
    });
    const delivery = {
      ...({
        deliveryId: 'dl_1',
        webhookId: 'wh_1',
        event: 'opportunity',
        tier: 'logical',
        ticker: 'BTC',
        body: Buffer.from('{}'),
      } as const),
      ...{ expiresMs: Number.MAX_SAFE_INTEGER, attempts: 0, step: 0, dueMs: 0, log: [] },
    };

    it('is reached without the guard, which proves that the test works', async () => {
      const agent = new Agent({ connect: { rejectUnauthorized: false } });
      for (const host of ['127.1', '0x7f000001', '[::1]', '[::ffff:127.0.0.1]', '0']) {
        const reply = await request(`https://${host}:${canary.port}/`, { dispatcher: agent });
        await reply.body.dump();
        expect(reply.statusCode).toBe(200);
      }
      await agent.close();
      expect(canary.connections).toBeGreaterThanOrEqual(4);
    });

    it(`is reached by none of ${REFUSED_HOSTS.length} hosts in URLs`, async () => {
      const guard = new TargetGuard(new AddressPolicy([]), async () => []);
      for (const host of REFUSED_HOSTS) {
        const sender = senderOn(guard);
        const url = parseTarget(`https://${host}:${canary.port}/`).href;
        expect(await sender.attempt(webhook(url), delivery), host).toMatchObject({
          outcome: 'target_refused',
        });
        await sender.close();
      }
      expect(canary.connections).toBe(0);
    });

    it('is reached by none of them as the address of a name, alone or with a public address', async () => {
      const addresses = REFUSED_HOSTS.map((host) => hostOf(new URL(`https://${host}/`))).filter(
        (host) => !/[a-z]/i.test(host.replace(/^[0-9a-f:.]+$/i, '')),
      );
      expect(addresses.length).toBeGreaterThanOrEqual(150);
      for (const address of addresses) {
        for (const found of [[address], ['93.184.215.14', address], [address, '2606:4700::1111']]) {
          const sender = senderOn(new TargetGuard(new AddressPolicy([]), async () => found));
          const result = await sender.attempt(webhook(`https://rebind.test:${canary.port}/`), delivery);
          expect(result, String(found)).toMatchObject({ outcome: 'target_refused' });
          await sender.close();
        }
      }
      expect(canary.connections).toBe(0);
    });

    it(`is not reached by a name that answers differently a moment later, ${REBINDINGS} times`, async () => {
      // One address of this machine is allowed, so that connections do happen; the canary uses the same port on another.
      const second = await new WebhookReceiver(certificate).listen('127.0.0.1');
      const allowed = await new WebhookReceiver(certificate).listen('127.0.0.9', second.port);
      let asked = 0;
      const resolve = async () => [asked++ % 2 === 0 ? '127.0.0.9' : '127.0.0.1'];
      const guard = new TargetGuard(new AddressPolicy(['127.0.0.9/32']), resolve, async () => []);
      const outcomes = new Map<string, number>();
      for (let n = 0; n < REBINDINGS; n++) {
        const sender = senderOn(guard);
        // Checked as at registration, then sent: the second lookup has a different result.
        if (n % 3 === 0)
          await guard
            .checkRegistration(new URL(`https://rebind.test:${allowed.port}/`), 'usr_1')
            .catch(() => null);
        const url = `https://rebind.test:${allowed.port}/`;
        const { outcome } = await sender.attempt(webhook(url), delivery);
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
        await sender.close();
      }
      expect(canary.connections).toBe(0);
      expect(second.connections).toBe(0);
      expect([...outcomes.keys()].sort()).toEqual(['delivered', 'target_refused']);
      expect([...outcomes.values()].reduce((sum, n) => sum + n, 0)).toBe(REBINDINGS);
      expect(allowed.received).toHaveLength(outcomes.get('delivered') ?? -1);
      await allowed.close();
      await second.close();
    });

    it('is not reached through a redirect', async () => {
      const allowed = await new WebhookReceiver(certificate).listen('127.0.0.9');
      const guard = new TargetGuard(new AddressPolicy(['127.0.0.9/32']), async () => ['127.0.0.9']);
      for (const status of [301, 302, 303, 307, 308]) {
        allowed.respond = (response) =>
          void response.writeHead(status, { location: `https://127.0.0.1:${canary.port}/` }).end();
        const sender = senderOn(guard);
        const result = await sender.attempt(webhook(`https://rebind.test:${allowed.port}/`), delivery);
        expect(result).toMatchObject({ outcome: 'refused', status });
        await sender.close();
      }
      expect(canary.connections).toBe(0);
      await allowed.close();
    });

    it('accepts neighbouring public addresses, up to the socket', async () => {
      const guard = new TargetGuard(new AddressPolicy([]), async () => ['93.184.215.14']);
      for (const host of PUBLIC_HOSTS) {
        const found = await guard.addresses(hostOf(parseTarget(`https://${host}/`)));
        expect(found.length, host).toBeGreaterThan(0);
      }
    });

    it('passes exactly the checked addresses to the socket', async () => {
      let asked = 0;
      const guard = new TargetGuard(new AddressPolicy(['127.0.0.0/8']), async () => {
        asked++;
        return ['127.0.0.1'];
      });
      const connector = guardedConnector(guard, { timeoutMs: 5000, ca: certificate.cert });
      const socket = await new Promise<import('node:net').Socket>((resolve, reject) =>
        connector(
          {
            hostname: 'rebind.test',
            protocol: 'https:',
            port: String(canary.port),
            servername: 'rebind.test',
          },
          (error, opened) => (error ? reject(error) : resolve(opened as never)),
        ),
      );
      expect(socket.remoteAddress).toBe('127.0.0.1');
      expect(asked).toBe(1);
      socket.destroy();
      // Node resolves no literal address, so the connector must check it.
      await new Promise<void>((resolve) => void connect(canary.port, '127.0.0.1', resolve).end());
    });
  },
);
