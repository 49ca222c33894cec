/** One part of a soak run: the built service on a data directory, under a load that keeps the machine busy. */
import { once } from 'node:events';
import { appendFileSync, readdirSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import { sleep, systemClock } from '../../src/runtime/clock.ts';
import type { StoreClient } from '../../src/store/engine/client.ts';
import { ServiceProcess } from '../../test/crash/faults/serviceProcess.ts';
import { measureMachine, residentMb } from '../processCost.ts';
import { quantile } from '../quantile.ts';
import { makeKeys, ScalingRig, type Venues } from '../scalingRig.ts';
import { engineClient, receiptP99, type Span } from '../storedReceipts.ts';
import { answerOf } from '../workerAnswer.ts';
import type { ReadersOptions, ReadersReport } from './readers.ts';
import type { Minute } from './samples.ts';

interface PartOptions {
  readonly dataDir: string;
  /** Gets a line of JSON a minute. */
  readonly file: string;
  readonly part: number;
  readonly minutes: number;
  /** Share of the processors that this run may use that is to be busy, in percent. */
  readonly percent: number;
  /** Book changes as a share of the real venues'. */
  readonly density: number;
  readonly onMinute: (minute: Minute, examples: readonly string[]) => void;
}

const MINUTE_MS = 60_000;
const SAMPLE_MS = 5_000;
/** Rows are stored about a second after their receipt: a minute's rows are read this much later. */
const STORED_MS = 5_000;
/** Requests a second, and how many are added for each percent that is missing. */
const [RATE_MIN, RATE_MAX, RATE_STEP] = [2, 2_000, 1];

interface Running {
  readonly service: ServiceProcess;
  readonly store: StoreClient;
  readonly venues: Venues;
  readonly readers: Worker;
  rate: number;
  /** End of the minute before: no gap may fall between two minutes. */
  sinceMs: number;
}

export function runPart(options: PartOptions): Promise<void> {
  return ScalingRig.with(async (rig) => {
    const { dataDir, density, part } = options;
    const venues = await rig.startVenues({ seed: `soak ${part}`, density });
    const environment = { ...venues.urls, UNDERROUND_LOG_LEVEL: 'warn' };
    const service = new ServiceProcess({ dataDir, environment, key: '' });
    rig.whenOver(() => service.end('SIGTERM'));
    service.start();
    if (!(await service.whenReady()))
      throw new Error(`the service did not start: ${service.log.slice(-2_000)}`);
    const [key = ''] = await makeKeys(1, { dataDir, databaseUrl: null });
    const store = engineClient(dataDir);
    rig.whenOver(() => store.close());
    const url = service.url as string;
    const readers = rig.startThread('soak/readers', { url, key } satisfies ReadersOptions);
    await once(readers, 'message');
    const running: Running = { service, store, venues, readers, rate: RATE_MIN, sinceMs: systemClock.now() };
    for (let minute = 1; minute <= options.minutes; minute++) {
      const { line, examples } = await measure(running, { ...options, minute });
      appendFileSync(options.file, `${JSON.stringify(line)}\n`);
      options.onMinute(line, examples);
    }
  });
}

async function measure(running: Running, { part, minute, percent }: PartOptions & { minute: number }) {
  const { service, store, venues, readers } = running;
  const machine = measureMachine();
  const startMs = systemClock.now();
  let [notReady, lagSeconds] = [0, 0];
  let metrics = '';
  while (systemClock.now() - startMs < MINUTE_MS) {
    const recent = measureMachine();
    await sleep(systemClock, SAMPLE_MS);
    const { status } = await service.get('/readyz');
    if (status !== 200) notReady++;
    metrics = (await service.get('/metrics')).body;
    lagSeconds = Math.max(lagSeconds, metricOf(metrics, 'underround_store_lag_seconds') ?? 0);
    const missing = percent - recent();
    running.rate = Math.min(RATE_MAX, Math.max(RATE_MIN, running.rate + missing * RATE_STEP));
    readers.postMessage(running.rate);
  }
  const busy = machine();
  const span = { fromMs: running.sinceMs, toMs: systemClock.now() };
  running.sinceMs = span.toMs;
  const { delaysMs } = await venues.report();
  const { readsMs, streamMs, failed, examples } = await answerOf<ReadersReport>(readers, null);
  await sleep(systemClock, STORED_MS);
  const { changes, causes } = await storedIn(span, store);
  const [servicePids, enginePids] = [[service.pid as number], service.enginePids()];
  const line: Minute = {
    part,
    minute,
    at: new Date(span.toMs).toISOString(),
    machine_percent: rounded(busy),
    service_mb: rounded(residentMb(servicePids)),
    service_heap_mb: megabytesOf(metrics, 'nodejs_heap_size_used_bytes'),
    service_external_mb: megabytesOf(metrics, 'nodejs_external_memory_bytes'),
    engine_mb: rounded(residentMb(enginePids)),
    service_descriptors: descriptors(servicePids),
    engine_descriptors: descriptors(enginePids),
    requests: readsMs.length,
    failed,
    read_p99_ms: known(quantile(readsMs, 0.99)),
    stream_p99_ms: known(quantile(streamMs, 0.99)),
    receipt_p99_ms: known(await receiptP99([span], store)),
    venue_p99_ms: known(quantile(delaysMs, 0.99)),
    changes,
    gaps: Object.values(causes).reduce((total, count) => total + count, 0),
    gap_causes: causes,
    store_lag_s: rounded(lagSeconds),
    not_ready: notReady,
  };
  return { line, examples };
}

/** The value of a metric's first line; null without one, or if the service did not answer. */
function metricOf(metrics: string, name: string): number | null {
  const value = new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(metrics)?.[1];
  return value === undefined ? null : Number(value);
}

function megabytesOf(metrics: string, name: string): number | null {
  const bytes = metricOf(metrics, name);
  return bytes === null ? null : rounded(bytes / 2 ** 20);
}

function descriptors(pids: readonly number[]): number {
  return pids.reduce((total, pid) => total + readdirSync(`/proc/${pid}/fd`).length, 0);
}

async function storedIn({ fromMs, toMs }: Span, store: StoreClient) {
  const params = { from: fromMs, to: toMs };
  const within = (column: string) =>
    `toUnixTimestamp64Milli(${column}) >= {from:Int64} AND toUnixTimestamp64Milli(${column}) < {to:Int64}`;
  const [books] = await store.rows<{ count: number }>(
    `SELECT count() AS count FROM books WHERE ${within('received')}`,
    params,
  );
  const gaps = await store.rows<{ cause: string; count: number }>(
    `SELECT cause, uniqExact(gap_id) AS count FROM gaps WHERE ${within('start_time')} GROUP BY cause`,
    params,
  );
  const causes = Object.fromEntries(gaps.map(({ cause, count }) => [cause, Number(count)]));
  return { changes: Number(books?.count), causes };
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The rounded value, or null if nothing was measured: JSON cannot contain NaN. */
function known(value: number): number | null {
  return Number.isFinite(value) ? rounded(value) : null;
}
