/**
 * A sweep from a user's view: markets read from the store, cells replayed in worker threads, the grid judged. Threads
 * run at low priority, so on a machine with other load only the processor time counts.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runJob } from '../src/backtest/jobRunner.ts';
import { WorkerPool } from '../src/backtest/workerPool.ts';
import { FairQueue } from '../src/core/fairQueue.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { silentLogger } from '../src/runtime/log.ts';
import { Metrics } from '../src/runtime/metrics.ts';
import { DEFAULT_PARAMS } from '../src/schema/api/strategies.ts';
import type { SweepSpec } from '../src/schema/backtest.ts';
import { socketPath } from '../src/store/engine/paths.ts';
import { openStore, type Store } from '../src/store/store.ts';
import { WINDOW_MS, writeSeries } from '../test/support/backtestData.ts';
import type { Figure } from './figure.ts';

const START_MS = Date.UTC(2026, 10, 20);
const MARKETS = 100;
const QUOTES = 400;
const STEPS = 50;
const NEVER = new AbortController().signal;

const SPEC: SweepSpec = {
  strategy: {
    ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 5 },
    entry: [{ metric: 'token_price', operator: 'below', value: 0.3 }],
    take_profit: [{ metric: 'token_price', operator: 'above', value: 0.5 }],
    stop_loss: [{ metric: 'token_price', operator: 'below', value: 0.1 }],
  },
  ...{ universe: { ticker: 'BTC', event_type: '5m' }, sizeUsd: 10, params: DEFAULT_PARAMS },
  ...{ startMs: null, endMs: START_MS + MARKETS * WINDOW_MS + 1, marketLimit: MARKETS },
  xAxis: { param: 'entry.0.value', start: 0.2, end: 0.6, steps: STEPS },
  yAxis: { param: 'take_profit.0.value', start: 0.3, end: 0.8, steps: STEPS },
};

const THRESHOLD_SPEC: SweepSpec = {
  ...SPEC,
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  xAxis: { param: 'threshold', start: 0.2, end: 0.6, steps: STEPS },
  yAxis: { param: 'max_fill_price', start: 0.3, end: 0.8, steps: STEPS },
};

export async function run(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'underround-bench-'));
  const store = await openStore({
    ...{ dataDir, clickhouseUrl: null, clock: systemClock, log: silentLogger, metrics: new Metrics() },
  });
  try {
    writeSeries(store.writer, { markets: MARKETS, quotes: QUOTES, startMs: START_MS });
    await store.writer.flush();
    const two = await sweep({ store, dataDir, threads: 2, spec: SPEC });
    const one = await sweep({ store, dataDir, threads: 1, spec: SPEC });
    const threshold = await sweep({ store, dataDir, threads: 2, spec: THRESHOLD_SPEC });
    const name = `condition_based, ${STEPS * STEPS} cells x ${MARKETS} markets of ${QUOTES} quotes and books`;
    return [
      { name: `${name}, two threads`, value: two.seconds, unit: 's', goal: '< 10, idle' },
      { name: 'its processor time', value: two.processor, unit: 's', goal: '< 20' },
      { name: 'of one thread', value: one.processor, unit: 's' },
      { name: 'of the two threads, busy at once', value: two.processor / two.seconds / 2, unit: 'of 1' },
      {
        name: 'threshold_entry, as many cells and markets, two threads',
        value: threshold.seconds,
        unit: 's',
        goal: '< 4, idle',
      },
      { name: 'its processor time', value: threshold.processor, unit: 's', goal: '< 8' },
    ];
  } finally {
    await store.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function sweep({
  store,
  dataDir,
  threads,
  spec,
}: {
  store: Store;
  dataDir: string;
  threads: number;
  spec: SweepSpec;
}): Promise<{ seconds: number; processor: number }> {
  const settings = { url: 'http://engine.local', socketPath: socketPath(dataDir) };
  const workers = new WorkerPool({ threads, settings });
  const trialsBefore = async () => 0;
  const parts = { store, workers, turns: new FairQueue(threads), codeVersion: 'bench', trialsBefore };
  const job = {
    jobId: `bt_${spec.strategy.type}_${threads}`,
    userId: 'bench',
    spec: { kind: 'sweep', ...spec },
  } as const;
  const [started, before] = [performance.now(), process.cpuUsage()];
  await runJob(parts, job, { signal: NEVER, onProgress: () => {} });
  const seconds = (performance.now() - started) / 1_000;
  const { user, system } = process.cpuUsage(before);
  await workers.close();
  return { seconds, processor: (user + system) / 1e6 };
}
