import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { until } from '../../test/support/localVenue.ts';
import { makeCertificate, opensslAbsent, WebhookReceiver } from '../../test/support/webhookReceiver.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { HttpClient } from './http.ts';
import { ReceiveThread } from './receiveThread.ts';
import { ReconnectingSocket } from './socket.ts';
import { DirectSocketDriver } from './venueSocket.ts';

const why = opensslAbsent === null ? '' : ` (skipped: ${opensslAbsent})`;

describe.skipIf(opensslAbsent)(`an untrusted certificate${why}`, () => {
  let venue: WebhookReceiver;
  let metrics: Metrics;
  const shared = () => ({
    ...{ feed: 'test', clock: new FakeClock(), random: () => 0, log: silentLogger, metrics },
  });
  beforeEach(async () => {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    venue = await new WebhookReceiver(makeCertificate()).listen();
    metrics = new Metrics();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await venue.close();
  });

  test('is refused over HTTP, even when the environment turns verification off', async () => {
    const client = new HttpClient(shared());
    await expect(client.get(venue.url())).rejects.toThrow('self-signed certificate');
    expect([venue.connections, venue.received]).toEqual([1, []]);
    await client.close();
  });

  test.each(['direct', 'thread'])(
    'is refused over WebSocket (%s), even when the environment turns verification off',
    async (kind) => {
      const unused = { keepAlive: null, silenceLimitMs: null, onOpen: () => {}, onFrame: () => {} };
      const url = venue.url().replace('https:', 'wss:');
      const thread = new ReceiveThread(shared());
      const sockets = kind === 'thread' ? thread : new DirectSocketDriver(new FakeClock());
      const socket = new ReconnectingSocket({ ...shared(), ...unused, sockets, url });
      await until(() => metrics.venueFeeds.rows().some(({ failures }) => failures > 0));
      // Later releases of Node append advice to the message.
      expect(metrics.venueFeeds.rows()[0]?.lastFailure?.cause).toMatch(/^self-signed certificate\b/);
      expect(venue.received).toEqual([]);
      await socket.close();
      await thread.close();
    },
  );
});
