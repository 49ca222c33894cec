/** What more processes give and cost: writers, API nodes, collectors, isolation, and the delay up to a client. */
import { systemClock as clock, sleep } from '../src/runtime/clock.ts';
import type { StoreClient } from '../src/store/engine/client.ts';
import type { ServiceProcess } from '../test/crash/faults/serviceProcess.ts';
import { isNatsInstalled } from '../test/support/natsProcess.ts';
import type { Figure } from './figure.ts';
import { cpuMs, measureMachine } from './processCost.ts';
import type { SpreadLoad, SpreadReport } from './scalingClients.ts';
import { busiestMarket, type LiveForm, measureForm, portOf, requestText } from './scalingLive.ts';
import { makeKeys, ScalingRig, type SharedServers, streamSize } from './scalingRig.ts';
import { machineFigure, measureWriters } from './scalingWriters.ts';
import { engineClient } from './storedReceipts.ts';
import type { VenueThreadOptions } from './venueThread.ts';
import { answerOf } from './workerAnswer.ts';

/** Book changes as a share of the real venues': two cores must carry every process. */
const VENUES: VenueThreadOptions = { seed: 'scaling', density: 0.2 };
const WARM_UP_MS = 15_000;
const KEYS = 50;
const LOAD_MS = 5_000;
const CONNECTIONS = 32;
/** For the cost of following alone, which every node has beside its clients. */
const FOLLOW_MS = 3_000;

export async function run(): Promise<Figure[]> {
  if (!isNatsInstalled) throw new Error('needs nats-server and setpriv');
  const onePart = await ScalingRig.with(measureOneProcess);
  const rest = await ScalingRig.with(async (rig) => {
    const servers = await rig.startServers();
    const writers = await measureWriters(servers);
    return [...writers, ...(await measureCluster(rig, servers))];
  });
  return [...onePart, ...rest];
}

async function measureOneProcess(rig: ScalingRig): Promise<Figure[]> {
  const venues = await rig.startVenues(VENUES);
  const service = await rig.startProcess('one', ['serve'], venues.urls);
  const store = engineClient(service.dataDir);
  rig.whenOver(() => store.close());
  const keys = await makeKeys(KEYS, { dataDir: service.dataDir, databaseUrl: null });
  const parts = { 'the process': [service.pid as number], 'its engine': service.enginePids() };
  await sleep(clock, WARM_UP_MS);
  return await measureForm(rig, { name: 'one process', venues, store, api: service, keys, parts });
}

async function measureCluster(rig: ScalingRig, servers: SharedServers): Promise<Figure[]> {
  const { store, client, databaseUrl, environment } = servers;
  const nats = await rig.startNats();
  const venues = await rig.startVenues(VENUES);
  const common = { ...environment, NATS_URL: nats.url };
  const start = (name: string, roles: string, own = {}) =>
    rig.startProcess(name, ['serve', '--roles', roles], { ...common, ...own });
  const collector = await start('collector', 'collect', venues.urls);
  const writer = await start('writer', 'write');
  const apis = [await start('api1', 'api')];
  const keys = await makeKeys(KEYS, { dataDir: await rig.directory(), databaseUrl });
  await sleep(clock, WARM_UP_MS);
  const clients: ApiLoad = { rig, key: keys[0] as string, marketId: await busiestMarket(client), apis };
  const loads = [await measureApis(clients)];
  apis.push(await start('api2', 'api'));
  loads.push(await measureApis(clients));
  const [api, follower] = apis as [ServiceProcess, ServiceProcess];
  const parts = {
    'the collector': [collector.pid as number],
    NATS: [nats.pid as number],
    'the writer': [writer.pid as number],
    'the store': store.enginePids(),
    'an API node without clients': [follower.pid as number],
  };
  const [before, booksBefore] = [await streamSize(nats), await countBooks(client)];
  const form: LiveForm = { name: 'cluster', venues, store: client, api, keys, parts };
  const live = await measureForm(rig, form);
  const [after, booksAfter] = [await streamSize(nats), await countBooks(client)];
  apis.push(await start('api3', 'api'), await start('api4', 'api'));
  loads.push(await measureApis(clients));
  const changes = booksAfter - booksBefore;
  const [bytes, messages] = [after.bytes - before.bytes, after.messages - before.messages];
  return [
    ...live,
    { name: 'cluster: stream, bytes a change, all messages', value: bytes / changes, unit: 'bytes' },
    { name: 'cluster: stream, messages a change', value: messages / changes, unit: '' },
    ...apiFigures(loads),
  ];
}

async function countBooks(client: StoreClient): Promise<number> {
  const [row] = await client.rows<{ stored: number }>('SELECT count() AS stored FROM books', {});
  return Number(row?.stored);
}

interface ApiLoad {
  readonly rig: ScalingRig;
  readonly key: string;
  readonly marketId: string;
  /** Each measurement has those that run by then. */
  readonly apis: readonly ServiceProcess[];
}

interface Answered {
  readonly perSecond: number;
  /** Milliseconds, without what the nodes use to follow. */
  readonly cpuPerRequest: number;
  readonly failed: number;
  readonly machine: number;
}

interface ApiResult {
  readonly nodes: number;
  readonly books: Answered;
  readonly mixed: Answered;
}

/** Books of memory alone, then a mix of small reads, most of which ask the store. */
async function measureApis({ rig, key, marketId, apis }: ApiLoad): Promise<ApiResult> {
  const book = `/v1/markets/${marketId}/orderbook`;
  const stored = [`/v1/snapshots?market_id=${marketId}&limit=1`, '/v1/markets?status=open&limit=5'];
  const worker = rig.startThread('scalingClients');
  const pids = apis.map(({ pid }) => pid as number);
  const idleBefore = cpuMs(pids);
  await sleep(clock, FOLLOW_MS);
  const followingShare = (cpuMs(pids) - idleBefore) / FOLLOW_MS;
  const measure = async (paths: readonly string[]): Promise<Answered> => {
    const load: SpreadLoad = {
      ports: apis.map(portOf),
      texts: paths.map((path) => requestText(path, key, 'keep-alive')),
      ...{ connections: CONNECTIONS, forMs: LOAD_MS },
    };
    const before = cpuMs(pids);
    const machine = measureMachine();
    const { answers, failed, seconds } = await answerOf<SpreadReport>(worker, load);
    const usedMs = cpuMs(pids) - before - followingShare * seconds * 1_000;
    return { perSecond: answers / seconds, cpuPerRequest: usedMs / answers, failed, machine: machine() };
  };
  const books = await measure([book]);
  return { nodes: apis.length, books, mixed: await measure([book, ...stored, `/v1/markets/${marketId}`]) };
}

function apiFigures(loads: readonly ApiResult[]): Figure[] {
  const [first] = loads;
  return loads.flatMap((load) => {
    const nodes = `${load.nodes} API ${load.nodes === 1 ? 'node' : 'nodes'}`;
    return (['books', 'mixed'] as const).flatMap((kind) => {
      const { perSecond, cpuPerRequest, failed, machine } = load[kind];
      const name = `${nodes}, ${kind === 'books' ? 'newest books' : 'mixed reads'}`;
      return [
        { name: `${name}: answers`, value: perSecond, unit: 'requests/s' },
        {
          name: `${name}: against one node`,
          value: perSecond / Number(first?.[kind].perSecond),
          unit: 'times',
        },
        { name: `${name}: CPU of the nodes`, value: 1_000 * cpuPerRequest, unit: 'us/request' },
        { name: `${name}: failed requests`, value: failed, unit: '', goal: '0' },
        machineFigure(name, machine),
      ];
    });
  });
}
