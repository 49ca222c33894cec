/** The effect of attacks on shared resources on another user, and on the receive times of venue frames. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
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
import type { StoreClient } from '../src/store/engine/client.ts';
import { openStore } from '../src/store/store.ts';
import { ServiceProcess } from '../test/crash/faults/serviceProcess.ts';
import { marketRecord } from '../test/support/api.ts';
import type { AttackReport, Clients } from './attackClients.ts';
import type { VictimReport, VictimTurn } from './attackVictim.ts';
import type { Figure } from './figure.ts';
import { quantile } from './quantile.ts';
import { bookSource } from './storeBooks.ts';
import { engineClient, receiptP99, type Span } from './storedReceipts.ts';
import type { VenueReport, VenueThreadOptions } from './venueThread.ts';
import { answerOf } from './workerAnswer.ts';

const ROUNDS = 8;
/** Book changes as a share of the real venues'. */
const DENSITY = 0.3;
const TURN_MS = 4_000;
/** What an attack leaves behind, such as answers under way, has ended after it. */
const SETTLE_MS = 1_000;
const WARM_UP_MS = 10_000;
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
  // Venues, attackers and the victim have threads of their own: their work must not look like the service's.
  const workerData: VenueThreadOptions = { seed: 'attack', density: DENSITY };
  const [venues, attackers, victim] = ['venueThread', 'attackClients', 'attackVictim'].map(
    (name) => new Worker(new URL(`./${name}.js`, import.meta.url), { workerData }),
  ) as [Worker, Worker, Worker];
  const [urls] = (await once(venues, 'message')) as [Record<string, string>];
  // Rate limits apply as for users.
  const environment = { ...urls, UNDERROUND_RATE_LIMITS: 'on' };
  const service = new ServiceProcess({ dataDir, environment, key: '' });
  service.start();
  const store = engineClient(dataDir);
  try {
    if (!(await service.whenReady())) throw new Error(`the service did not start: ${service.log}`);
    const port = Number(new URL(service.url as string).port);
    const target = { ...(await makeKeys(dataDir)), port, marketId };
    const bench: Bench = { venues, attackers, victim, target, store };
    await takeTurn(bench, { forMs: WARM_UP_MS });
    const figures: Figure[] = [];
    for (const attack of ATTACKS) figures.push(...(await measure(bench, attack)));
    return figures;
  } finally {
    await store.close();
    await service.end('SIGTERM');
    await Promise.all([venues, attackers, victim].map((worker) => worker.terminate()));
    await rm(dataDir, { recursive: true, force: true });
  }
}

interface Bench {
  readonly venues: Worker;
  readonly attackers: Worker;
  readonly victim: Worker;
  readonly target: Target;
  readonly store: StoreClient;
}

interface Turn extends Span {
  readonly victim: VictimReport;
  readonly venues: VenueReport;
  readonly attackersMs: number;
}

async function takeTurn(bench: Bench, { forMs, attack }: { forMs: number; attack?: Attack }): Promise<Turn> {
  const { target, attackers } = bench;
  const { port, marketId } = target;
  await answerOf<VenueReport>(bench.venues, null);
  const fromMs = systemClock.now();
  if (attack !== undefined) {
    const clients: Clients = { port, texts: attack.requests(target), reads: attack.reads };
    attackers.postMessage(clients);
  }
  const text = get(`/v1/snapshots?market_id=${marketId}&limit=1`, target.victim);
  const victim = await answerOf<VictimReport>(bench.victim, { port, text, forMs } satisfies VictimTurn);
  const toMs = systemClock.now();
  const venues = await answerOf<VenueReport>(bench.venues, null);
  const attackersMs = attack === undefined ? 0 : (await answerOf<AttackReport>(attackers, null)).cpuMs;
  return { fromMs, toMs, victim, venues, attackersMs };
}

/** Short turns with and without the attack, one after the other: a machine whose speed drifts slows both alike. */
async function measure(bench: Bench, attack: Attack): Promise<Figure[]> {
  const [without, attacked]: [Turn[], Turn[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    without.push(await takeTurn(bench, { forMs: TURN_MS }));
    // From its first moment: that is when most of it is worked on.
    attacked.push(await takeTurn(bench, { forMs: TURN_MS, attack }));
    await sleep(systemClock, SETTLE_MS);
  }
  await sleep(systemClock, STORED_MS);
  return figuresOf(attack, await summary(without, bench.store), await summary(attacked, bench.store));
}

interface Summary {
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
  readonly failed: number;
  readonly receiptP99: number;
  readonly venueP99: number;
  /** Of one processor, in percent: what victim, attackers and venues cost. */
  readonly generators: number;
  readonly venues: number;
}

async function summary(turns: readonly Turn[], store: StoreClient): Promise<Summary> {
  const sum = (of: (turn: Turn) => number) => turns.reduce((total, turn) => total + of(turn), 0);
  const times = turns.flatMap(({ victim }) => victim.timesMs);
  const share = (cpuMs: number) => (100 * cpuMs) / sum(({ fromMs, toMs }) => toMs - fromMs);
  const venuesMs = sum(({ venues }) => venues.cpuMs);
  return {
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    worst: Math.max(...times),
    failed: sum(({ victim }) => victim.failed),
    receiptP99: await receiptP99(turns, store),
    venueP99: quantile(
      turns.flatMap(({ venues }) => venues.delaysMs),
      0.99,
    ),
    generators: share(venuesMs + sum(({ victim, attackersMs }) => victim.cpuMs + attackersMs)),
    venues: share(venuesMs),
  };
}

function figuresOf({ name }: Attack, without: Summary, attacked: Summary): Figure[] {
  const both = (what: string, of: keyof Summary, unit: string, goal?: string): Figure[] => [
    { name: `  ${what}, without it`, value: without[of], unit },
    { name: `  ${what}, with it`, value: attacked[of], unit, ...(goal === undefined ? {} : { goal }) },
  ];
  return [
    {
      name: `${name}: victim's p99 against without it`,
      value: attacked.p99 / without.p99,
      unit: 'times',
      goal: '<= 1.5',
    },
    ...both("victim's p50", 'p50', 'ms'),
    ...both("victim's p99", 'p99', 'ms'),
    ...both("victim's slowest request", 'worst', 'ms', '< 1000'),
    ...both("victim's requests that failed", 'failed', '', '0'),
    ...both('venue to receipt, p99', 'receiptP99', 'ms', '< 20'),
    ...both("venue's own delay in it, p99", 'venueP99', 'ms'),
    ...both('venues, of one processor', 'venues', '%'),
    ...both('venues, victim and attackers, of one processor', 'generators', '%'),
  ];
}

/** A market whose answer is larger than all buffers between service and client. */
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
