import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VenueServer } from '../../src/simulator/server.ts';
import { commandAbsent, underround } from '../support/builtCommand.ts';
import { eventually, startCommand, startVenues } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { makeCertificate, opensslAbsent, WebhookReceiver } from '../support/webhookReceiver.ts';

const absent = commandAbsent || opensslAbsent !== null;

describe.skipIf(absent)('webhooks of a running service (skipped without a build or openssl)', () => {
  let venues: VenueServer;
  beforeAll(async () => {
    venues = await startVenues();
  });
  afterAll(() => venues.stop());

  it('registered on the command line receive a test event, and another after the service was killed', async () => {
    const dataDir = temporaryDirectory();
    const certificate = makeCertificate();
    const receiver = await new WebhookReceiver(certificate).listen();
    const ca = join(dataDir, 'ca.pem');
    writeFileSync(ca, certificate.cert);
    const environment = {
      ...{ UNDERROUND_DATA_DIR: dataDir, UNDERROUND_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
      ...{ NODE_EXTRA_CA_CERTS: ca, UNDERROUND_RATE_LIMITS: 'off', ...venues.urls() },
    };
    const json = async (...words: string[]) =>
      JSON.parse(await underround(['webhooks', ...words, '--json'], environment));
    await underround(['users', 'create', '--email', 'a@example.com', '--tier', 'premium'], environment);
    const { webhook_id: id, secret } = await json(
      ...['create', '--email', 'a@example.com', '--url', receiver.url(), '--label', 'e2e'],
    );
    const first = await startCommand(['serve'], environment);
    const told = (await json('test', id)).delivery_id;
    const [got] = await eventually(
      'the test event',
      async () => receiver.received.length > 0 && receiver.received,
    );
    expect(got?.headers).toMatchObject({ 'webhook-id': told, 'user-agent': 'Service-Webhook/1' });
    const body = new StandardWebhook(secret).verify(
      String(got?.body),
      got?.headers as Record<string, string>,
    );
    expect(body).toMatchObject({ type: 'opportunity', polymarket_slug: 'test-event' });

    await first.stop('SIGKILL');
    const waits = (await json('test', id)).delivery_id;
    const second = await startCommand(['serve'], environment);
    await eventually('the event that waited', async () =>
      receiver.received.some(({ headers }) => headers['webhook-id'] === waits),
    );
    // The sender counts after it has the reply, which is after the receiver has the event.
    await eventually('a delivery that is counted', async () => {
      const metrics = await (await fetch(`${second.url}/metrics`)).text();
      return metrics.includes('underround_webhook_attempts_total{outcome="delivered"}');
    });
    expect(await second.stop()).toBe(0);
    await receiver.close();
  });
});
