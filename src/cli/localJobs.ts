/** Runs jobs of JSON strategies in the process of a command, on the recording of a data directory. */
import { codeVersion } from '../backtest/codeVersion.ts';
import { runJob } from '../backtest/jobRunner.ts';
import { startWorkers } from '../backtest/service.ts';
import type { Config } from '../config.ts';
import { FairQueue } from '../core/fairQueue.ts';
import type { TrialsFile } from '../report/trials.ts';
import { systemClock } from '../runtime/clock.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { JobSpec } from '../schema/backtest.ts';
import type { Market } from '../schema/market.ts';
import { API_VERSION } from '../schema/version.ts';
import { loadUniverse } from '../store/queries/universe.ts';
import { openRecording } from './openRecording.ts';
import { Progress } from './progress.ts';
import { jobTrial } from './trialsFile.ts';

/** Read access to the data directory is enough: a command has no user and no tier. */
const OWN = { jobId: 'bt_command', userId: 'command' };

export interface LocalJobs {
  /** @returns The result as JSON. */
  run(spec: JobSpec, label?: string): Promise<string>;
  /** The markets that a job replays. */
  markets(spec: JobSpec): Promise<Market[]>;
}

/** @param trials Counts earlier trials against the best cell of a sweep. */
export async function withLocalJobs<T>(
  { config, trials, signal }: { config: Config; trials: TrialsFile; signal: AbortSignal },
  use: (jobs: LocalJobs) => Promise<T>,
): Promise<T> {
  const store = await openRecording(config);
  const workers = startWorkers({ config, clock: systemClock, log: silentLogger, metrics: new Metrics() });
  try {
    return await use({
      run: async (spec, label = spec.kind) => {
        const progress = new Progress(label);
        const turns = new FairQueue(workers.threads);
        const trialsBefore = async (_job: unknown, dataHash: string) =>
          trials.before(jobTrial(spec, dataHash));
        const runner = { store, workers, turns, codeVersion: codeVersion(API_VERSION), trialsBefore };
        const onProgress = (share: number) => progress.update(share, '');
        try {
          onProgress(0);
          const result = await runJob(runner, { ...OWN, spec }, { signal, onProgress });
          onProgress(1);
          return result;
        } finally {
          progress.done();
        }
      },
      markets: async ({ universe, startMs, endMs, marketLimit: limit }) =>
        await loadUniverse(store, { universe, startMs, endMs, limit }),
    });
  } finally {
    await workers.close();
    await store.close();
  }
}
