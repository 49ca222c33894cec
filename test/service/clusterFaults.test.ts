import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import type { VenueServer } from '../../src/simulator/server.ts';
import { nextWindow, windowAt } from '../../src/venues/polymarket/lifecycle/windows.ts';
import { underround } from '../support/builtCommand.ts';
import {
  type ClusterServers,
  clusterAbsent,
  getJson,
  makeClusterKey,
  startClusterServers,
  startNode,
} from '../support/cluster.ts';
import { kindsInPlay } from '../support/inPlay.ts';
import { eventually, type RunningCommand, startVenues } from '../support/runningService.ts';
import { StreamClient } from '../support/streams.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { makeCertificate, opensslAbsent, WebhookReceiver } from '../support/webhookReceiver.ts';

/** Best asks in thousandths: at fee rate 0.07 a pair gains 3.5 cents. */
const CHEAP = { upAsk: 460, downAsk: 470 };
const APIS = ['a1', 'a2'] as const;
const SHARED_NAME = 'c1: two collectors have this name: give each its own UNDERROUND_NODE';
const absent = clusterAbsent ?? opensslAbsent;

describe.skipIf(absent)(`a cluster with faults${absent ? ` (skipped: ${absent})` : ''}`, () => {
  const ends: (() => Promise<void>)[] = [];
  const whenOver = (end: () => Promise<void>) => void ends.unshift(end);
  const nodes: Record<string, RunningCommand> = {};
  const clients: Record<string, StreamClient> = {};
  /** Markets that begin later, so that none ends during the tests; each test uses its own. */
  const unused: string[] = [];
  const published: string[] = [];
  let venues: VenueServer;
  let servers: ClusterServers;
  let receiver: WebhookReceiver;
  let variables: Record<string, string>;

  const start = async (name: string, roles: string) => {
    nodes[name] = await startNode(servers, { name, roles, venues, variables });
  };
  const node = (name: string) => nodes[name] as RunningCommand;

  beforeAll(async () => {
    venues = await startVenues({ tickers: ['BTC'] });
    whenOver(() => venues.stop());
    servers = await startClusterServers(whenOver);
    const certificate = makeCertificate();
    receiver = await new WebhookReceiver(certificate).listen();
    whenOver(() => receiver.close());
    const ca = join(
      temporaryDirectory((end) => whenOver(async () => end())),
      'ca.pem',
    );
    writeFileSync(ca, certificate.cert);
    variables = {
      UNDERROUND_TICKERS: 'BTC',
      UNDERROUND_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
      NODE_EXTRA_CA_CERTS: ca,
    };
    await Promise.all([start('c1', 'collect'), start('w1', 'write')]);
    const key = await makeClusterKey(servers);
    const words = ['webhooks', 'create', '--email', 'test@example.com', '--url', receiver.url()];
    await underround([...words, '--label', 'test'], { ...servers.environment, ...variables });
    await Promise.all(['s1', 's2'].map((name) => start(name, 'signals')));
    await Promise.all(['o1', 'o2'].map((name) => start(name, 'webhooks,backtest')));
    await Promise.all(APIS.map((name) => start(name, 'api')));
    for (const name of APIS) {
      const address = `${node(name).url.replace('http', 'ws')}/v1/arb/ws`;
      const client = new StreamClient(
        new WebSocket(address, { headers: { authorization: `Bearer ${key}` } }),
      );
      whenOver(async () => client.socket.terminate());
      await client.next('ready');
      clients[name] = client;
    }
    for (const kind of await kindsInPlay(4, ['1h', '4h', '15m', 'daily_up_down', '5m'])) {
      const window = nextWindow(kind, windowAt(kind, venues.model.nowMs));
      unused.push(venues.model.registry.ofWindow('BTC', kind, window).facts.conditionId);
    }
    await eventually('trusted books', async () => {
      const books = await Promise.all(
        unused.map((id) => getJson<{ trusted: boolean }>(node('a1'), key, `/v1/markets/${id}/orderbook`)),
      );
      return books.every(({ trusted }) => trusted);
    });
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });

  const ready = async (name: string) =>
    (await (await fetch(`${node(name).url}/readyz`)).json()) as {
      ok: boolean;
      reasons: string[];
      degraded: string[];
    };
  const allReady = () =>
    eventually('every process ready', async () => {
      const answers = await Promise.all(Object.keys(nodes).map(ready));
      return answers.every(({ ok }) => ok);
    });
  /** The one of two processes whose metrics have a line. */
  const whichHas = (names: readonly string[], line: string) =>
    eventually(line, async () => {
      for (const name of names) {
        const metrics = await (await fetch(`${node(name).url}/metrics`)).text();
        if (metrics.split('\n').includes(line)) return name;
      }
      return null;
    });
  const leader = (names: readonly string[]) => whichHas(names, 'underround_leader{task="signals"} 1');
  const delivered = () =>
    receiver.received.map(({ headers, body }) => ({
      id: headers['webhook-id'],
      marketId: (JSON.parse(String(body)) as { market_id: string }).market_id,
    }));
  const pushed = (name: string) =>
    (clients[name]?.messages ?? [])
      .filter(({ type }) => type === 'opportunity')
      .map(({ market_id, tier }) => `${market_id} ${tier}`);

  /** Makes an opportunity on the next unused market, and waits for it on both streams and at the receiver. */
  const nextOpportunity = async () => {
    const marketId = unused.shift() as string;
    published.push(marketId);
    venues.fault({ fault: 'quote_apart', marketId, ...CHEAP });
    const expected = `${marketId} logical`;
    for (const name of APIS)
      await eventually(`the push of ${name}`, async () => pushed(name).includes(expected));
    await eventually('the delivery', async () => delivered().some((one) => one.marketId === marketId));
  };

  it('signals and deliveries go on when the process that leads them is killed', async () => {
    await nextOpportunity();
    const first = await leader(['s1', 's2']);
    const other = first === 's1' ? 's2' : 's1';
    await node(first).stop('SIGKILL');
    delete nodes[first];
    await nextOpportunity();
    expect(await leader([other])).toBe(other);

    const sender = await whichHas(['o1', 'o2'], 'underround_webhook_sending 1');
    await node(sender).stop('SIGKILL');
    delete nodes[sender];
    await nextOpportunity();
    await start(first, 'signals');

    expect(await node(other).stop()).toBe(0);
    delete nodes[other];
    await nextOpportunity();
    expect(await leader([first])).toBe(first);

    // No opportunity was published twice or under another id, and each was delivered under one id.
    const wanted = published.map((marketId) => `${marketId} logical`).sort();
    for (const name of APIS)
      expect(
        pushed(name)
          .filter((one) => one.endsWith(' logical'))
          .sort(),
      ).toEqual(wanted);
    for (const marketId of published) {
      const ids = delivered().filter((one) => one.marketId === marketId);
      expect(new Set(ids.map(({ id }) => id)).size).toBe(1);
    }
    const verified = await underround(['audit', 'verify'], servers.environment);
    expect(verified).toMatch(/^audit unchanged: /);
  });

  it('says so while NATS is away, and goes on by itself', async () => {
    await allReady();
    await servers.nats.kill();
    await eventually('reasons', async () => {
      const [collector, api] = [await ready('c1'), await ready('a1')];
      const isSilent = api.reasons.some((reason) => /^no collector heard for \d+ s$/.test(reason));
      return isSilent && collector.reasons.some((reason) => reason.startsWith('NATS is not connected'));
    });
    await servers.nats.start();
    await allReady();
    for (const [name, { child }] of Object.entries(nodes))
      expect({ name, status: child.exitCode }).toEqual({ name, status: null });
  });

  it('says so when the store has ended: the writer too is not ready', async () => {
    await servers.store.stop('SIGKILL');
    for (const name of ['w1', 'a1'])
      await eventually(`the reason of ${name}`, async () => {
        const { reasons } = await ready(name);
        return reasons.some((reason) => reason.startsWith('the store has not answered for '));
      });
    expect(node('w1').child.exitCode).toBeNull();
  });

  it('reports two collectors of one name', async () => {
    nodes.twin = await startNode(servers, { name: 'c1', roles: 'collect', venues, variables });
    for (const name of APIS)
      await eventually('the report', async () => (await ready(name)).degraded.includes(SHARED_NAME));
  });
});
