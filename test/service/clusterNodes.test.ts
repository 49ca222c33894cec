import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock } from '../../src/runtime/clock.ts';
import type { VenueServer } from '../../src/simulator/server.ts';
import { underround } from '../support/builtCommand.ts';
import { type ClusterServers, clusterAbsent, startClusterServers, startNode } from '../support/cluster.ts';
import { PASSWORD } from '../support/dashboard.ts';
import { eventually, type RunningCommand, setupTokenOf, startVenues } from '../support/runningService.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';
import { makeCertificate, opensslAbsent, WebhookReceiver } from '../support/webhookReceiver.ts';

const absent = clusterAbsent ?? opensslAbsent;
const SERIES = { ticker: 'BTC', event_type: '5m' };
const BUYS = { type: 'threshold_entry', threshold: 0.97, direction: 'below', side: 'buy_yes' };
const SETUP_USED = { detail: 'This setup link was used: the service has its operator' };

interface Answer {
  readonly status: number;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, each compared with exact values
  readonly body: any;
}
interface Asked {
  readonly method?: string;
  readonly body?: object;
}

/** Time and content of a book in a few characters, so that a failing comparison can be read. */
function fingerprint({ ts, yes_bids, yes_asks }: Answer['body']): string {
  const content = createHash('sha256').update(JSON.stringify([yes_bids, yes_asks]));
  return `${ts} ${content.digest('hex').slice(0, 12)}`;
}

/** One user, whose requests go to the nodes in turn like behind a load balancer. */
class Visitor {
  readonly #nodes: readonly RunningCommand[];
  #turn = 0;
  cookie: string | null = null;
  key: string | null = null;

  constructor(nodes: readonly RunningCommand[]) {
    this.#nodes = nodes;
  }

  /** @param at Index of the node; left out: the next one. */
  async ask(path: string, { method = 'GET', body }: Asked = {}, at = this.#turn++): Promise<Answer> {
    const { url } = this.#nodes[at % this.#nodes.length] as RunningCommand;
    const headers: Record<string, string> = { origin: url };
    if (this.cookie !== null) headers.cookie = this.cookie;
    if (this.key !== null && path.startsWith('/v1/')) headers.authorization = `Bearer ${this.key}`;
    const payload = body === undefined ? {} : { body: JSON.stringify(body) };
    if (body !== undefined) headers['content-type'] = 'application/json';
    const answer = await fetch(url + path, { method, headers, ...payload });
    const [set] = answer.headers.getSetCookie();
    if (set !== undefined) this.cookie = set.split(';', 1)[0] ?? null;
    const text = await answer.text();
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status: answer.status, text, body: isJson ? JSON.parse(text) : text };
  }

  /** The same question to every node. */
  both(path: string): Promise<Answer[]> {
    return Promise.all(this.#nodes.map((_, at) => this.ask(path, {}, at)));
  }

  /** The body of a successful answer. */
  async read(path: string, asked: Asked = {}): Promise<Answer['body']> {
    const { status, text, body } = await this.ask(path, asked);
    if (status >= 300) throw new Error(`${path}: ${status} ${text}`);
    return body;
  }
}

describe.skipIf(absent)(`two API processes${absent ? ` (skipped: ${absent})` : ''}`, () => {
  const ends: (() => Promise<void>)[] = [];
  const whenOver = (end: () => Promise<void>) => void ends.unshift(end);
  let venues: VenueServer;
  let servers: ClusterServers;
  let receiver: WebhookReceiver;
  let nodes: readonly RunningCommand[];
  /** The operator, with a session and a key of the highest tier. */
  let operator: Visitor;

  beforeAll(async () => {
    venues = await startVenues({ tickers: ['BTC'], density: 0.1 });
    servers = await startClusterServers(whenOver);
    const certificate = makeCertificate();
    receiver = await new WebhookReceiver(certificate).listen();
    const directory = temporaryDirectory((end) => whenOver(async () => end()));
    const [ca, tiers] = [join(directory, 'ca.pem'), join(directory, 'tiers.json')];
    writeFileSync(ca, certificate.cert);
    // Only the user of tier Free reaches a limit: the others poll.
    const unlimited = { requests_per_second: 1_000, requests_per_minute: 60_000 };
    writeFileSync(tiers, JSON.stringify({ premium: unlimited }));
    const variables = {
      ...{ UNDERROUND_TICKERS: 'BTC', UNDERROUND_RATE_LIMITS: 'on', NODE_EXTRA_CA_CERTS: ca },
      UNDERROUND_TIERS_FILE: tiers,
      UNDERROUND_WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8',
    };
    const start = (name: string, roles: string) => startNode(servers, { name, roles, venues, variables });
    await Promise.all([start('c1', 'collect'), start('c2', 'collect'), start('w1', 'write')]);
    const [one, two] = await Promise.all([
      start('a1', 'api'),
      start('a2', 'api'),
      start('o1', 'paper,webhooks,backtest'),
      start('s1', 'signals'),
    ]);
    nodes = [one, two];
    operator = new Visitor(nodes);
  });
  afterAll(async () => {
    for (const end of ends) await end();
    await receiver.close();
    await venues.stop();
  });

  const node = (at: number) => nodes[at] as RunningCommand;

  /** The market in play with the shortest window, once its stored rows are at least this many. */
  const recordedMarket = (rows: number) =>
    eventually('a recorded market', async () => {
      const { markets } = await operator.read('/v1/markets?status=open&ticker=BTC&event_type=5m');
      const now = systemClock.now();
      const inPlay = markets.find(
        (market: { start_time: string; end_time: string }) =>
          Date.parse(market.start_time) <= now && now < Date.parse(market.end_time),
      );
      const path = `/v1/snapshots?market_id=${inPlay.market_id}&limit=${rows}`;
      return (await operator.read(path)).snapshots.length >= rows && (inPlay.market_id as string);
    });

  /** Requests that the nodes counted each for itself. */
  const countedAlone = async () => {
    const metrics = await Promise.all(nodes.map(async ({ url }) => (await fetch(`${url}/metrics`)).text()));
    const counts = metrics.map((text) => /^underround_rate_limit_alone_total (\d+)$/m.exec(text)?.[1]);
    return counts.reduce((sum, count) => sum + Number(count), 0);
  };

  it('admit the first operator by the link of either, once, and share sessions and keys', async () => {
    const [first, second] = [await setupTokenOf(node(0)), await setupTokenOf(node(1))];
    expect(first).not.toBe(second);
    const signUp = (email: string, setup: string) => ({
      method: 'POST',
      body: { email, password: PASSWORD, setup },
    });
    const made = await operator.ask('/app/sign-up', signUp('op@example.com', first), 1);
    expect([made.status, made.body.user?.operator]).toEqual([200, true]);
    for (const at of [0, 1]) {
      const late = await new Visitor(nodes).ask('/app/sign-up', signUp('b@example.com', second), at);
      expect([late.status, late.body]).toEqual([403, SETUP_USED]);
    }
    expect((await operator.both('/app/me')).map(({ body }) => body)).toEqual([made.body, made.body]);
    const path = `/app/users/${made.body.user.user_id}`;
    await operator.read(path, { method: 'PATCH', body: { tier: 'premium' } });
    operator.key = (await operator.read('/app/keys', { method: 'POST', body: { label: 'bot' } })).key;
    expect((await operator.both('/v1/markets?limit=1')).map(({ status }) => status)).toEqual([200, 200]);
  });

  it('refuse a key on both as soon as one has revoked it', async () => {
    const made = await operator.read('/app/keys', { method: 'POST', body: { label: 'short' } });
    const user = new Visitor(nodes);
    user.key = made.key;
    expect((await user.both('/v1/markets?limit=1')).map(({ status }) => status)).toEqual([200, 200]);
    expect((await operator.ask(`/app/keys/${made.key_id}`, { method: 'DELETE' }, 0)).status).toBe(204);
    expect((await user.both('/v1/markets?limit=1')).map(({ status }) => status)).toEqual([401, 401]);
  });

  it('count the requests of one user together', async () => {
    const words = ['keys', 'create', '--email', 'free@example.com', '--tier', 'free', '--json'];
    const environment = {
      ...servers.environment,
      UNDERROUND_DATA_DIR: temporaryDirectory(),
    };
    const user = new Visitor(nodes);
    user.key = JSON.parse(await underround(words, environment)).key;
    const begunMs = systemClock.monotonic();
    const aloneBefore = await countedAlone();
    const answers = [];
    for (let n = 0; n < 120; n++) answers.push((await user.ask('/v1/markets?limit=1')).status);
    expect(answers.filter((status) => status !== 200 && status !== 429)).toEqual([]);
    // One a second is allowed, whichever node counts: a node of its own count would answer twice as many. While the
    // database of a busy machine answers late, a node does count alone.
    const seconds = Math.ceil((systemClock.monotonic() - begunMs) / 1000);
    const alone = (await countedAlone()) - aloneBefore;
    expect(answers.filter((status) => status === 200).length).toBeLessThanOrEqual(seconds + 1 + alone);
  });

  it('continue a list from the other one’s cursor', async () => {
    const marketId = await recordedMarket(60);
    const { snapshots } = await operator.read(`/v1/snapshots?market_id=${marketId}&limit=60`);
    const range = `market_id=${marketId}&end=${encodeURIComponent(snapshots.at(-1).ts)}`;
    const whole = (await operator.read(`/v1/snapshots?${range}&limit=1000`)).snapshots;
    const paged = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const more: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page: Answer['body'] = await operator.read(`/v1/snapshots?${range}&limit=7${more}`);
      paged.push(...page.snapshots);
      cursor = page.next_cursor;
    }
    expect(paged).toEqual(whole);
    expect(whole.length).toBeGreaterThan(50);
  });

  it('resume the other one’s stream without a missing or a doubled change', async () => {
    const marketId = await recordedMarket(1);
    const read = async (at: number, resume: object, count: number) => {
      const url = `${node(at).url.replace('http', 'ws')}/v1/stream`;
      const socket = new WebSocket(url, { headers: { authorization: `Bearer ${operator.key}` } });
      const heard: Answer['body'][] = [];
      socket.on('message', (data) => heard.push(JSON.parse(String(data))));
      const wanted = { type: 'subscribe', market_ids: [marketId], ...resume };
      socket.on('open', () => socket.send(JSON.stringify(wanted)));
      const changes = () => heard.filter(({ type }) => type === 'snapshot');
      await eventually(`${count} changes`, async () => changes().length >= count);
      socket.terminate();
      const allowed = ['ready', 'ack', 'snapshot', 'market', 'ping'];
      expect(heard.filter(({ type }) => !allowed.includes(type))).toEqual([]);
      return changes();
    };
    const before = await read(0, {}, 15);
    const after = await read(1, { resume: before.at(-1).cursor }, 15);
    const seen = [...before.slice(1), ...after].map(fingerprint);
    const range = `start=${encodeURIComponent(before[1]?.ts)}`;
    const path = `/v1/export?dataset=snapshots&market_id=${marketId}&${range}&format=jsonl`;
    const stored = await eventually('the last change in the store', async () => {
      const { status, text } = await operator.ask(path);
      expect(status).toBe(200);
      const books: Answer['body'][] = text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line));
      // The slower collector may deliver a book behind newer ones: it belongs to the archive and not to the stream.
      const live = books.filter(({ late }) => !late).map(fingerprint);
      return live.includes(seen.at(-1) as string) && live;
    });
    // Changes of the same millisecond may come before the first one that was streamed.
    const from = stored.indexOf(seen[0] as string);
    expect(seen).toEqual(stored.slice(from, from + seen.length));
  });

  it('show a paper strategy made on one as it trades, on both', async () => {
    const body = { name: 'buys', strategy: BUYS, universe: SERIES };
    const { paper_strategy_id: id } = await operator.read('/v1/paper/strategies', { method: 'POST', body });
    const path = `/v1/paper/strategies/${id}/positions`;
    const positions = await eventually('a position', async () => {
      const answer = await operator.read(path);
      return answer.positions.length > 0 && answer.positions;
    });
    expect(positions[0]).toMatchObject({ side: 'buy_yes' });
    const [one, two] = await operator.both(path);
    expect(one?.body.positions[0].position_id).toBe(two?.body.positions[0].position_id);
  });

  it('show the end of a backtest made on one on both', async () => {
    // Before the recording, so that its outcome does not depend on when a window ends.
    const body = { strategy: BUYS, universe: SERIES, start: '2026-01-01', end: '2026-01-02' };
    const { job_id: id } = await operator.read('/v1/backtest', { method: 'POST', body });
    await eventually('its end', async () => {
      const { status } = await operator.read(`/v1/backtest/${id}`);
      return status !== 'queued' && status !== 'running';
    });
    const [one, two] = await operator.both(`/v1/backtest/${id}`);
    const error = 'no BTC 5m market ended in the range asked for';
    expect([one?.status, one?.body]).toEqual([200, expect.objectContaining({ status: 'failed', error })]);
    expect(two?.text).toBe(one?.text);
  });

  it('deliver an event of a webhook that the other one registered, once', async () => {
    const url = receiver.url();
    const body = { url, label: randomBytes(4).toString('hex'), tiers: ['endgame'] };
    const made = await operator.ask('/app/webhooks', { method: 'POST', body }, 0);
    expect(made.status).toBe(201);
    const path = `/app/webhooks/${made.body.webhook_id}`;
    const test = await operator.ask(`${path}/test`, { method: 'POST' }, 1);
    expect(test.status).toBe(202);
    const delivered = await eventually('the delivery', async () => {
      const { deliveries } = await operator.read(`${path}/deliveries`);
      return deliveries[0]?.state === 'delivered' && deliveries;
    });
    expect(delivered).toHaveLength(1);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    // One of each attempt: on a busy machine the first one may have been too slow.
    expect(ids.filter((id) => id === test.body.delivery_id)).toHaveLength(delivered[0].attempts);
  });

  it('export the same bytes', async () => {
    const marketId = await recordedMarket(60);
    const { snapshots } = await operator.read(`/v1/snapshots?market_id=${marketId}&limit=60`);
    const range = `market_id=${marketId}&end=${encodeURIComponent(snapshots.at(-1).ts)}`;
    for (const format of ['jsonl', 'csv']) {
      const [one, two] = await operator.both(`/v1/export?dataset=snapshots&${range}&format=${format}`);
      expect([one?.status, two?.status]).toEqual([200, 200]);
      expect(one?.text.split('\n').length).toBeGreaterThan(50);
      expect(two?.text).toBe(one?.text);
    }
  });

  it('show the operator the connections of both collectors', async () => {
    for (const { body } of await operator.both('/app/feeds')) {
      const up = body.feeds.filter((feed: { up: number }) => feed.up > 0);
      const names = (rows: { collector: string }[]) => [...new Set(rows.map(({ collector }) => collector))];
      expect([names(up), names(body.price_sources)]).toEqual([
        ['c1', 'c2'],
        ['c1', 'c2'],
      ]);
      expect(up.map(({ feed }: { feed: string }) => feed)).toContain('polymarket.clob');
    }
  });
});
