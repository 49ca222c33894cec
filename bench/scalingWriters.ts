/** How fast one and two writers store a stream that has piled up. */
import { connectCluster } from '../src/bus/nats/connectCluster.ts';
import type { RecordStream, SharedValues, StreamMessage } from '../src/bus/recordStream.ts';
import { readCheckpoint, valuesOfStream } from '../src/recorder/write/checkpoint.ts';
import { systemClock as clock, sleep } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import type { ServiceProcess } from '../test/crash/faults/serviceProcess.ts';
import type { Figure } from './figure.ts';
import { cpuMs, measureMachine } from './processCost.ts';
import { ScalingRig, type SharedServers, streamSize } from './scalingRig.ts';
import { bookSource } from './storeBooks.ts';

const MESSAGES = 100_000;
/** Levels a side: with both sides a hundred, as a market in play has. */
const LEVELS = 50;
const MARKETS = 48;
/** One message in so many is a trade; one book in so many has changed best prices. */
const [TRADE_EVERY, QUOTE_EVERY] = [20, 5];
/** Published messages that the stream has not stored yet. */
const AHEAD_MAX = 8_000;
const PART = 2_000;
const POLL_MS = 20;
/** Of every stream that a process creates. */
const PARTITIONS = 4;
const STARTS_MAX = 5;
/** From here on the machine has nothing left to give. */
const LIMIT_PERCENT = 85;

interface Drain {
  readonly rowsPerSecond: number;
  readonly cpuPerThousand: number;
  readonly engineCpuPerThousand: number;
  readonly natsCpuPerThousand: number;
  readonly bytesPerMessage: number;
  readonly machine: number;
}

export async function measureWriters(servers: SharedServers): Promise<Figure[]> {
  const one = await drain(servers, 1);
  const two = await drain(servers, 2);
  const figuresOf = (name: string, drained: Drain): Figure[] => [
    { name: `${name}: stored`, value: drained.rowsPerSecond, unit: 'rows/s' },
    { name: `${name}: CPU of the writers`, value: drained.cpuPerThousand, unit: 'ms/1,000 rows' },
    { name: `${name}: CPU of the store`, value: drained.engineCpuPerThousand, unit: 'ms/1,000 rows' },
    { name: `${name}: CPU of NATS`, value: drained.natsCpuPerThousand, unit: 'ms/1,000 rows' },
    machineFigure(name, drained.machine),
  ];
  return [
    ...figuresOf('1 writer', one),
    ...figuresOf('2 writers', two),
    { name: '2 writers against 1: rows/s', value: two.rowsPerSecond / one.rowsPerSecond, unit: 'times' },
    { name: 'stream: bytes a message', value: one.bytesPerMessage, unit: 'bytes' },
  ];
}

/** States whether the processors of the machine were the limit of a measurement. */
export function machineFigure(name: string, percent: number): Figure {
  const isLimit = percent >= LIMIT_PERCENT;
  return { name: `${name}: all cores busy`, value: percent, unit: isLimit ? '% (the limit)' : '%' };
}

/**
 * The writers are elected first. Then the engine is stopped while the messages are published, so that neither the
 * publishing nor the start of the writers is measured.
 */
function drain({ store, client, environment }: SharedServers, writers: number): Promise<Drain> {
  return ScalingRig.with(async (rig) => {
    const nats = await rig.startNats();
    const cluster = await connectCluster({
      ...{ url: nats.url, dataDir: await rig.directory(), sender: 'bench', run: String(writers) },
      ...{ clock, log: silentLogger, metrics: new Metrics(), random: () => 0.5 },
    });
    rig.whenOver(() => cluster.close());
    await cluster.ready;
    const { stream } = cluster;
    const values = valuesOfStream(cluster.values, stream);
    const own = { ...environment, NATS_URL: nats.url };
    const processes = await startWriters(rig, writers, own);
    const rowsBefore = await rowsOf(client);
    const pids = {
      writers: processes.map(({ pid }) => pid as number),
      engine: store.enginePids(),
      nats: [nats.pid as number],
    };
    rig.whenOver(() => store.signalEngines('SIGCONT'));
    store.signalEngines('SIGSTOP');
    await publishAll(stream);
    const { bytes } = await streamSize(nats);
    const before = { writers: cpuMs(pids.writers), engine: cpuMs(pids.engine), nats: cpuMs(pids.nats) };
    const machine = measureMachine();
    const startMs = performance.now();
    store.signalEngines('SIGCONT');
    await whenStored(stream, values);
    const seconds = (performance.now() - startMs) / 1_000;
    const busy = machine();
    const cpu = (of: keyof typeof pids) => cpuMs(pids[of]) - before[of];
    const used = { writers: cpu('writers'), engine: cpu('engine'), nats: cpu('nats') };
    const rows = (await rowsOf(client)) - rowsBefore;
    return {
      rowsPerSecond: rows / seconds,
      cpuPerThousand: (1_000 * used.writers) / rows,
      engineCpuPerThousand: (1_000 * used.engine) / rows,
      natsCpuPerThousand: (1_000 * used.nats) / rows,
      bytesPerMessage: bytes / MESSAGES,
      machine: busy,
    };
  });
}

/** Starts the writers together, until each one has an equal share of the partitions: the first to start may win all. */
async function startWriters(
  rig: ScalingRig,
  writers: number,
  environment: Readonly<Record<string, string>>,
): Promise<readonly ServiceProcess[]> {
  const names = Array.from({ length: writers }, (_, index) => `writer${index + 1}`);
  for (let tries = 1; tries <= STARTS_MAX; tries++) {
    const start = (name: string) => rig.startProcess(name, ['serve', '--roles', 'write'], environment);
    const processes = await Promise.all(names.map(start));
    const held = await heldShares(processes);
    if (held.every((count) => count === PARTITIONS / writers)) return processes;
    await Promise.all(processes.map((process) => process.end('SIGTERM')));
  }
  throw new Error(`${writers} writers did not share the partitions in ${STARTS_MAX} starts`);
}

/** The number of partitions of each writer, once all are taken. */
async function heldShares(processes: readonly ServiceProcess[]): Promise<readonly number[]> {
  for (;;) {
    const answers = await Promise.all(processes.map((process) => process.get('/metrics')));
    const held = answers.map(({ body }) => Number(/^underround_partitions_held (\d+)/m.exec(body)?.[1] ?? 0));
    if (held.reduce((sum, count) => sum + count) === PARTITIONS) return held;
    await sleep(clock, POLL_MS);
  }
}

async function publishAll(stream: RecordStream): Promise<void> {
  const source = bookSource({ markets: MARKETS, levels: LEVELS, seed: 5 });
  const start = await stream.lastSeq();
  stream.publish(aliveMessage('first'));
  for (let index = 0; index < MESSAGES; index++) {
    stream.publish(messageOf(index, source.next(index, clock.now())));
    if (index % PART !== 0) continue;
    while ((await stream.lastSeq()) - start < index - AHEAD_MAX) await sleep(clock, POLL_MS);
  }
  stream.publish(aliveMessage('last'));
  const whole = start + MESSAGES + 2 * stream.partitions;
  while ((await stream.lastSeq()) < whole) await sleep(clock, POLL_MS);
}

async function whenStored(stream: RecordStream, values: SharedValues): Promise<void> {
  // The last message went to every partition: each one has one of the last numbers.
  const target = (await stream.lastSeq()) - stream.partitions;
  for (let partition = 0; partition < stream.partitions; partition++)
    while ((await readCheckpoint(values, partition)).streamSeq <= target) await sleep(clock, POLL_MS);
}

const ENVELOPE = { sender: 'bench', run: '1' };

function aliveMessage(name: string): StreamMessage {
  const body = { reasons: [], degraded: [], priceSources: [], sentTimeMs: clock.now() };
  return { ...ENVELOPE, kind: 'alive', id: `alive:${name}`, key: null, body };
}

function messageOf(
  index: number,
  { seq: _, ...book }: ReturnType<ReturnType<typeof bookSource>['next']>,
): StreamMessage {
  const { marketId, eventTimeMs, receivedTimeMs, underlyingPrice } = book;
  const common = { ...ENVELOPE, id: `bench:${index}`, key: marketId };
  const times = { marketId, eventTimeMs, receivedTimeMs };
  if (index % TRADE_EVERY === 0) {
    const traded = { side: 'BUY_YES', price: 4_200, size: 12_340_000, tradeId: `t${index}` } as const;
    return { ...common, kind: 'trade', body: { ...times, ...traded } };
  }
  const [yesBid = null, yesAsk = null] = [book.yes.bids, book.yes.asks].map(({ prices }) => prices[0]);
  const best = { yesBid, yesAsk, noBid: 10_000 - Number(yesAsk), noAsk: 10_000 - Number(yesBid) };
  const quote = { ...times, ...best, yesChanged: true, trusted: true, underlyingPrice };
  const action = { ladderHash: String(index), occurrence: 0, isRepeated: false };
  return {
    ...common,
    kind: 'action',
    body: { ...action, book, quote: index % QUOTE_EVERY === 0 ? quote : null },
  };
}

async function rowsOf(client: SharedServers['client']): Promise<number> {
  const [row] = await client.rows<{ stored: number }>(
    'SELECT (SELECT count() FROM books) + (SELECT count() FROM quotes) + (SELECT count() FROM trades) AS stored',
    {},
  );
  return Number(row?.stored);
}
