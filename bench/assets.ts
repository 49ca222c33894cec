/** A service that follows all eight assets, 38 series, at the traffic of the recordings. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { sleep, systemClock } from '../src/runtime/clock.ts';
import { TICKERS } from '../src/schema/market.ts';
import type { StoreClient } from '../src/store/engine/client.ts';
import { ServiceProcess } from '../test/crash/faults/serviceProcess.ts';
import type { Figure } from './figure.ts';
import { cpuMs, residentMb } from './processCost.ts';
import { quantile } from './quantile.ts';
import { engineClient, receiptP99, type Span } from './storedReceipts.ts';
import type { VenueReport, VenueThreadOptions } from './venueThread.ts';

const WARM_UP_MS = 60_000;
const MEASURED_MS = 240_000;
/** Rows are stored about a second after their receipt. */
const STORED_MS = 5_000;
const SAMPLE_MS = 5_000;

export async function run(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-assets-'));
  const workerData: VenueThreadOptions = { seed: 'assets', density: 1, tickers: TICKERS };
  const venues = new Worker(new URL('./venueThread.js', import.meta.url), { workerData });
  const [urls] = (await once(venues, 'message')) as [Record<string, string>];
  const environment = { ...urls, UNDERROUND_TICKERS: TICKERS.join(',') };
  const service = new ServiceProcess({ dataDir, environment, key: '' });
  service.start();
  const store = engineClient(dataDir);
  try {
    if (!(await service.whenReady())) throw new Error(`the service did not start: ${service.log}`);
    await sleep(systemClock, WARM_UP_MS);
    return await measure({ service, venues, store });
  } finally {
    await store.close();
    await service.end('SIGTERM');
    await venues.terminate();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function measure(running: {
  service: ServiceProcess;
  venues: Worker;
  store: StoreClient;
}): Promise<Figure[]> {
  const { service, venues, store } = running;
  const pids = { service: [service.pid as number], engine: service.enginePids() };
  const cpuBefore = { service: cpuMs(pids.service), engine: cpuMs(pids.engine) };
  await reportOf(venues);
  const fromMs = systemClock.now();
  let [serviceMb, engineMb] = [0, 0];
  while (systemClock.now() - fromMs < MEASURED_MS) {
    await sleep(systemClock, SAMPLE_MS);
    serviceMb = Math.max(serviceMb, residentMb(pids.service));
    engineMb = Math.max(engineMb, residentMb(pids.engine));
  }
  const span = { fromMs, toMs: systemClock.now() };
  const share = (ms: number) => (100 * ms) / (span.toMs - span.fromMs);
  const cpu = {
    service: share(cpuMs(pids.service) - cpuBefore.service),
    engine: share(cpuMs(pids.engine) - cpuBefore.engine),
  };
  const { cpuMs: venuesMs, delaysMs } = await reportOf(venues);
  await sleep(systemClock, STORED_MS);
  const stored = await storedIn(span, store);
  const { status } = await service.get('/readyz');
  return [
    { name: 'series with stored books', value: stored.series, unit: 'of 38', goal: '38' },
    { name: 'stored book changes', value: (1000 * stored.books) / MEASURED_MS, unit: '/s' },
    { name: 'of one processor, the service', value: cpu.service, unit: '%' },
    { name: 'of one processor, its engine', value: cpu.engine, unit: '%' },
    { name: 'of one processor, the simulated venues', value: share(venuesMs), unit: '%' },
    { name: 'most memory, the service', value: serviceMb, unit: 'MB' },
    { name: 'most memory, its engine', value: engineMb, unit: 'MB' },
    { name: 'venue to receipt, p99', value: await receiptP99([span], store), unit: 'ms', goal: '< 20' },
    { name: "venues' own delay in it, p99", value: quantile(delaysMs, 0.99), unit: 'ms' },
    { name: 'gaps', value: stored.gaps, unit: '', goal: '0' },
    { name: 'untrusted books', value: stored.untrusted, unit: '', goal: '0' },
    { name: 'status of /readyz', value: status, unit: '', goal: '200' },
  ];
}

async function reportOf(venues: Worker): Promise<VenueReport> {
  const answered = once(venues, 'message');
  venues.postMessage(null);
  const [report] = (await answered) as [VenueReport];
  return report;
}

async function storedIn(span: Span, store: StoreClient) {
  const params = { from: span.fromMs, to: span.toMs };
  const within = `toUnixTimestamp64Milli(received) >= {from:Int64} AND toUnixTimestamp64Milli(received) < {to:Int64}`;
  const [books] = await store.rows<{ books: number; untrusted: number; series: number }>(
    `SELECT count() AS books, countIf(NOT trusted) AS untrusted, uniqExact(ticker, event_type) AS series
     FROM books INNER JOIN (SELECT market_id, any(ticker) AS ticker, any(event_type) AS event_type FROM markets
       GROUP BY market_id) AS named USING (market_id)
     WHERE ${within}`,
    params,
  );
  const [gaps] = await store.rows<{ gaps: number }>('SELECT uniqExact(gap_id) AS gaps FROM gaps');
  const { books: count = 0, untrusted = 0, series = 0 } = books ?? {};
  return {
    books: Number(count),
    untrusted: Number(untrusted),
    series: Number(series),
    gaps: Number(gaps?.gaps),
  };
}
