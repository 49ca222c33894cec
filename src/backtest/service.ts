/** Assembles the backtest components of one process. */
import { availableParallelism } from 'node:os';
import type { Config } from '../config.ts';
import type { RandomBytes } from '../control/base62.ts';
import type { Database } from '../control/schema.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { API_VERSION } from '../schema/version.ts';
import { socketPath } from '../store/engine/paths.ts';
import type { StoreReader } from '../store/reader.ts';
import { BacktestRunner } from './backtestRunner.ts';
import { codeVersion } from './codeVersion.ts';
import { earlierTrials } from './earlierTrials.ts';
import { JobControl } from './jobControl.ts';
import { JobQueue } from './jobQueue.ts';
import { JobRepository } from './jobs.ts';
import { WorkerPool } from './workerPool.ts';

interface BacktestServiceParts {
  readonly config: Pick<Config, 'dataDir' | 'clickhouseUrl' | 'databaseUrl'>;
  readonly database: Database;
  readonly store: StoreReader;
  /** Resolves once all rows received so far are stored or were set aside. */
  readonly stored?: () => Promise<void>;
  /** Whether jobs may take no more space on the disk of the control database; left out: never. */
  readonly isDiskScarce?: () => Promise<boolean>;
  readonly clock: Clock;
  readonly randomBytes: RandomBytes;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Path of the worker threads' compiled entry. */
  readonly workerEntry?: string;
}

/** The backtests of a process. */
interface BacktestService {
  readonly control: JobControl;
  /** Stops; running jobs return to the queue. */
  close(): Promise<void>;
}

/**
 * Creates, reads and cancels jobs, and runs them.
 * @throws {StoreUnavailableError} If the control database cannot be reached.
 */
export async function startBacktests(parts: BacktestServiceParts): Promise<BacktestService> {
  const { database, clock, randomBytes, config, log } = parts;
  const runnerId = `run_${Buffer.from(randomBytes(8)).toString('hex')}`;
  const runner = new BacktestRunner({
    ...{ store: parts.store, clock, log, metrics: parts.metrics, codeVersion: codeVersion(API_VERSION) },
    stored: parts.stored ?? (async () => undefined),
    queue: new JobQueue(database, { clock, runner: runnerId }),
    trialsBefore: (job, dataHash) => earlierTrials(database, { ...job, dataHash }),
    workers: startWorkers(parts),
    // Only one service runs on a data directory; a PostgreSQL database may have several.
    alone: config.databaseUrl === null,
  });
  await runner.start();
  return { control: openJobControl(parts, runner), close: () => runner.close() };
}

/** For a process that runs no jobs: it creates, reads and cancels those of the other processes on its database. */
export function openJobControl(
  {
    database,
    clock,
    randomBytes,
    isDiskScarce = async () => false,
  }: Pick<BacktestServiceParts, 'database' | 'clock' | 'randomBytes' | 'isDiskScarce'>,
  runner: BacktestRunner | null = null,
): JobControl {
  const jobs = new JobRepository(database, { clock, randomBytes });
  return new JobControl({ jobs, clock, runner, isDiskScarce });
}

/** A pool of worker threads, which start with the first job. */
export function startWorkers({
  config,
  clock,
  log,
  metrics,
  workerEntry,
}: Pick<BacktestServiceParts, 'config' | 'clock' | 'log' | 'metrics' | 'workerEntry'>): WorkerPool {
  const { clickhouseUrl, dataDir } = config;
  const exceeded = metrics.counter(
    'underround_backtest_memory_exceeded_total',
    'Worker threads ended because a task exceeded the memory limit of a thread',
  );
  return new WorkerPool({
    threads: availableParallelism(),
    settings:
      clickhouseUrl === null
        ? { url: 'http://engine.local', socketPath: socketPath(dataDir) }
        : { url: clickhouseUrl, socketPath: null },
    ...(workerEntry === undefined ? {} : { entry: workerEntry }),
    clock,
    onCrash: (error) => log.error({ err: error }, 'backtest.worker_died'),
    onMemoryExceeded: ({ usedBytes, limitBytes }) => {
      exceeded.inc();
      log.error({ usedBytes, limitBytes }, 'backtest.memory_exceeded');
    },
  });
}
