/** The duration of a start with a killed process's journal, compared with a start without recovery. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { sleep, systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import { openStore } from '../src/store/store.ts';
import { ServiceProcess } from '../test/crash/faults/serviceProcess.ts';
import type { Figure } from './figure.ts';
import { bookSource } from './storeBooks.ts';

/** Segments are closed once per second. */
const SEGMENTS = 500;
const BOOKS_A_SEGMENT = 300;
const RECORDED_POLL_MS = 20;

export async function run(): Promise<Figure[]> {
  const venues = new Worker(new URL('./venueThread.js', import.meta.url));
  const [urls] = (await once(venues, 'message')) as [Record<string, string>];
  const dataDirs = await Promise.all(
    ['empty', 'waiting'].map((name) => mkdtemp(join(tmpdir(), `underround-${name}-`))),
  );
  const [empty, waiting] = dataDirs as [string, string];
  try {
    await leaveSegments(waiting);
    // The very first start creates the tables.
    await leaveSegments(empty, 0);
    const none = await startSeconds(empty, urls);
    const some = await startSeconds(waiting, urls);
    return [
      { name: 'start to ready, nothing waiting', value: none.ready, unit: 's' },
      { name: '  to the first book of the venue', value: none.recorded, unit: 's' },
      { name: `start to ready, ${SEGMENTS} segments waiting`, value: some.ready, unit: 's', goal: '< 3' },
      { name: '  to the first book of the venue', value: some.recorded, unit: 's', goal: '< 3' },
    ];
  } finally {
    await venues.terminate();
    for (const dataDir of dataDirs) await rm(dataDir, { recursive: true, force: true });
  }
}

/** Creates a data directory whose journal has this many segments that are not in the engine. */
async function leaveSegments(dataDir: string, segments = SEGMENTS): Promise<void> {
  const options = { dataDir, clickhouseUrl: null, clock: systemClock, log: silentLogger };
  const store = await openStore({ ...options, metrics: new Metrics(), mayInsert: () => false });
  const source = bookSource({ markets: 45, levels: 20, seed: 7 });
  const startMs = systemClock.now() - (segments + 60) * 1_000;
  let seq = 0;
  for (let segment = 0; segment < segments; segment++) {
    for (let book = 0; book < BOOKS_A_SEGMENT; book++)
      store.writer.book(source.next(++seq, startMs + segment * 1_000 + book));
    void store.writer.flush().catch(() => undefined);
    await sleep(systemClock, 1);
  }
  await store.close();
}

async function startSeconds(
  dataDir: string,
  urls: Readonly<Record<string, string>>,
): Promise<{ ready: number; recorded: number }> {
  const service = new ServiceProcess({ dataDir, environment: urls, key: '' });
  const begun = performance.now();
  service.start();
  if (!(await service.whenReady())) throw new Error(`the service did not start: ${service.log}`);
  const ready = (performance.now() - begun) / 1_000;
  await firstBook(service);
  const recorded = (performance.now() - begun) / 1_000;
  await service.end('SIGTERM');
  return { ready, recorded };
}

/** Resolves when a book frame was received. */
async function firstBook(service: ServiceProcess): Promise<void> {
  const hasFrame = /^underround_venue_frames_total\{feed="polymarket.clob"\} [1-9]/m;
  while (!hasFrame.test((await service.get('/metrics')).body)) await sleep(systemClock, RECORDED_POLL_MS);
}
