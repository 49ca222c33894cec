/** What attacks on shared resources cost another user, and the times at which the recorder receives what venues send. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { openAccounts } from '../src/accounts/accounts.ts';
import { issueKey } from '../src/accounts/keys/keys.ts';
import { openControlDatabase } from '../src/controlDatabase.ts';
import { sleep, systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import type { Tier } from '../src/schema/tier.ts';
import { StoreClient } from '../src/store/engine/client.ts';
import { socketPath } from '../src/store/engine/paths.ts';
import { openStore } from '../src/store/store.ts';
import { ServiceProcess } from '../test/crash/faults/serviceProcess.ts';
import { marketRecord } from '../test/support/api.ts';
import type { Clients } from './attackClients.ts';
import type { Figure } from './figure.ts';
import { bookSource } from './storeBooks.ts';

const PHASE_MS = 15_000;
/** The victim's requests: within its rate, and enough for a 99th percentile. */
const VICTIM_PERIOD_MS = 40;
/** A request that takes longer has failed. */
const VICTIM_LIMIT_MS = 20_000;
/** Rows are stored about a second after their receipt. */
const STORED_MS = 3_000;
const [BOOKS, LEVELS] = [20_000, 20];
const START_MS_AGO = 3_600_000;

interface Target {
  readonly port: number;
  readonly marketId: string;
  readonly victim: string;
  readonly premium: string;
  readonly free: readonly string[];
}

interface Attack {
  readonly name: string;
  readonly requests: (target: Target) => readonly string[];
  readonly reads: boolean;
}

const get = (path: string, key: string) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`;
const post = (path: string, headers: string, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
/** A body of undeclared members, each of which a refusal lists. */
const undeclared = (bytes: number) =>
  `{${Array.from({ length: Math.floor(bytes / 16) }, (_, index) => `"m${String(index).padStart(8, '0')}":1`).join(',')}}`;

const stream = ({ marketId }: Target, key: string) =>
  get(`/v1/snapshots?market_id=${marketId}&limit=100000`, key);
const ATTACKS: readonly Attack[] = [
  {
    name: 'eight unread streams of one Premium user',
    requests: (target) => Array(8).fill(stream(target, target.premium)),
    reads: false,
  },
  {
    name: 'eight unread streams of eight Free users',
    requests: (target) => target.free.map((key) => stream(target, key)),
    reads: false,
  },
  {
    name: '50 unread big 422s',
    requests: ({ premium }) =>
      Array(50).fill(post('/v1/backtest', `Authorization: Bearer ${premium}\r\n`, undeclared(250_000))),
    reads: false,
  },
  {
    name: 'five sign-in bodies of 850 kB a second',
    requests: () => Array(5).fill(post('/app/sign-in', 'Origin: http://localhost\r\n', undeclared(850_000))),
    reads: true,
  },
];

export async function run(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-attack-'));
  const marketId = await recordHistory(dataDir);
  // Venues and attackers have threads of their own: their work must not look like the service's.
  const venues = new Worker(new URL('./venueThread.js', import.meta.url));
  const attackers = new Worker(new URL('./attackClients.js', import.meta.url));
  const [urls] = (await once(venues, 'message')) as [Record<string, string>];
  // Requests are limited as they are for users.
  const environment = { ...urls, UNDERROUND_RATE_LIMITS: 'on' };
  const service = new ServiceProcess({ dataDir, environment, key: '' });
  service.start();
  const store = storeOf(dataDir);
  try {
    if (!(await service.whenReady())) throw new Error(`the service did not start: ${service.log}`);
    const port = Number(new URL(service.url as string).port);
    const target = { ...(await makeKeys(dataDir)), port, marketId };
    await measure(target, store);
    const figures: Figure[] = [];
    for (const attack of ATTACKS) {
      // Each has its own comparison: what else the machine does changes over minutes.
      const alone = await measure(target, store);
      attackers.postMessage({ port, texts: attack.requests(target), reads: attack.reads } satisfies Clients);
      const attacked = await measure(target, store);
      attackers.postMessage(null);
      figures.push(...figuresOf(attack, alone, attacked));
    }
    return figures;
  } finally {
    await store.close();
    await service.end('SIGTERM');
    await Promise.all([venues.terminate(), attackers.terminate()]);
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Measured {
  readonly victimMs: number;
  readonly failed: number;
  readonly receiptMs: number;
}

function figuresOf({ name }: Attack, alone: Measured, attacked: Measured): Figure[] {
  const ratio = attacked.victimMs / alone.victimMs;
  return [
    { name: `${name}: victim's p99`, value: attacked.victimMs, unit: 'ms' },
    { name: '  against without it', value: ratio, unit: 'times', goal: '<= 1.5' },
    { name: '  requests of the victim that failed', value: attacked.failed, unit: '', goal: '0' },
    { name: '  venue to receipt, p99, without it', value: alone.receiptMs, unit: 'ms' },
    { name: '  venue to receipt, p99', value: attacked.receiptMs, unit: 'ms', goal: '< 20' },
  ];
}

async function measure({ port, marketId, victim }: Target, store: StoreClient): Promise<Measured> {
  const [fromMs, times] = [systemClock.now(), [] as number[]];
  let failed = 0;
  const url = `http://127.0.0.1:${port}/v1/snapshots?market_id=${marketId}&limit=1`;
  const ask = async () => {
    const begun = performance.now();
    const signal = AbortSignal.timeout(VICTIM_LIMIT_MS);
    const headers = { authorization: `Bearer ${victim}` };
    const answer = await fetch(url, { headers, signal }).catch(() => null);
    await answer?.arrayBuffer().catch(() => null);
    if (answer?.status !== 200) failed++;
    times.push(performance.now() - begun);
  };
  const asked: Promise<void>[] = [];
  while (systemClock.now() - fromMs < PHASE_MS) {
    asked.push(ask());
    await sleep(systemClock, VICTIM_PERIOD_MS);
  }
  const toMs = systemClock.now();
  await Promise.all(asked);
  await sleep(systemClock, STORED_MS);
  const [delay] = await store.rows<{ p99: number }>(
    `SELECT quantileExact(0.99)(toUnixTimestamp64Milli(received) - toUnixTimestamp64Milli(ts)) AS p99 FROM books
     WHERE received >= fromUnixTimestamp64Milli({from:Int64}) AND received < fromUnixTimestamp64Milli({to:Int64})`,
    { from: fromMs, to: toMs },
  );
  const victimMs = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)] as number;
  return { victimMs, failed, receiptMs: Number(delay?.p99) };
}

/** A market whose answer is larger than all buffers on its way. */
async function recordHistory(dataDir: string): Promise<string> {
  const parts = { clock: systemClock, metrics: new Metrics(), log: silentLogger };
  const store = await openStore({ ...parts, dataDir, clickhouseUrl: null });
  const source = bookSource({ markets: 1, levels: LEVELS, seed: 3 });
  const marketId = source.marketIds[0] as string;
  const startMs = systemClock.now() - START_MS_AGO;
  store.writer.market({ ...marketRecord({ marketId }), seq: 1 });
  for (let seq = 1; seq <= BOOKS; seq++) store.writer.book(source.next(seq, startMs + seq * 40));
  await store.writer.flush();
  await store.close();
  return marketId;
}

/** The service's own engine. */
function storeOf(dataDir: string): StoreClient {
  const agent = new Agent({ keepAlive: true, ...{ socketPath: socketPath(dataDir) } });
  const access = {
    ...{ url: 'http://engine.local', agent, streamAgent: agent, hostPid: null },
    ...{ whenReady: async () => undefined, close: async () => undefined },
  };
  return new StoreClient({ access, clock: systemClock, log: silentLogger });
}

async function makeKeys(dataDir: string): Promise<Pick<Target, 'victim' | 'premium' | 'free'>> {
  const config = { dataDir, databaseUrl: null, keyEnvironment: 'live' } as const;
  const sources = { clock: systemClock, randomBytes };
  const accounts = await openAccounts({
    database: await openControlDatabase(config),
    config,
    ...sources,
    logger: silentLogger,
    metrics: new Metrics(),
  });
  const keyOf = async (name: string, tier: Tier) => {
    const wanted = { email: `${name}@example.com`, tier, label: 'bench', environment: 'live' } as const;
    return (await issueKey(accounts.database, sources, wanted)).key;
  };
  const [victim, premium] = [await keyOf('victim', 'premium'), await keyOf('attacker', 'premium')];
  const free: string[] = [];
  for (let index = 0; index < 8; index++) free.push(await keyOf(`free${index}`, 'free'));
  await accounts.close();
  return { victim, premium, free };
}
