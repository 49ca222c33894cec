import { readFileSync } from 'node:fs';
import { axisProblems, executionProblems, specOf } from '../backtest/asked.ts';
import { codeVersion } from '../backtest/codeVersion.ts';
import { runJob } from '../backtest/jobRunner.ts';
import { startWorkers } from '../backtest/service.ts';
import type { Config } from '../config.ts';
import { FairQueue } from '../core/fairQueue.ts';
import { systemClock } from '../runtime/clock.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import { backtestMembers, MARKET_LIMIT_DEFAULT, sweepMembers } from '../schema/api/backtests.ts';
import { type Members, type MemberValues, readBody } from '../schema/api/body.ts';
import type { Problem } from '../schema/api/fields.ts';
import type { JobSpec } from '../schema/backtest.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { API_VERSION } from '../schema/version.ts';
import { printBacktest, printSweep } from './backtestTables.ts';
import { interruptible } from './failure.ts';
import { openRecording } from './openRecording.ts';
import { Progress } from './progress.ts';
import { followedAssets, readSettings } from './settings.ts';

/** Read access to the data directory is enough: a command has no user and no tier. */
const OWN = { jobId: 'bt_command', userId: 'command' };

/**
 * Runs the job described by a file and prints its result. A refusal is one line on standard error and exit status 1.
 */
export async function runBacktest(
  path: string,
  options: { json?: boolean; dataDir?: string },
): Promise<void> {
  await interruptible(async (signal) => {
    const spec = readSpec(path, followedAssets());
    const config = await readSettings({ dataDir: options.dataDir, use: 'read recording' });
    const result = await run(spec, config, signal);
    if (options.json) console.log(result);
    else
      console.log(spec.kind === 'sweep' ? printSweep(JSON.parse(result)) : printBacktest(JSON.parse(result)));
  });
}

async function run(spec: JobSpec, config: Config, signal: AbortSignal): Promise<string> {
  const store = await openRecording(config);
  const workers = startWorkers({ config, clock: systemClock, log: silentLogger, metrics: new Metrics() });
  const progress = new Progress(spec.kind);
  try {
    const turns = new FairQueue(workers.threads);
    // A data directory has many accounts, and commands keep no jobs: there are no earlier trials to count.
    const trialsBefore = async () => 0;
    const runner = { store, workers, turns, codeVersion: codeVersion(API_VERSION), trialsBefore };
    progress.update(0, '');
    const onProgress = (share: number) => progress.update(share, '');
    const result = await runJob(runner, { ...OWN, spec }, { signal, onProgress });
    progress.update(1, '');
    return result;
  } finally {
    progress.done();
    await workers.close();
    await store.close();
  }
}

/** @throws {InvalidInputError} Lists every problem of the file. */
function readSpec(path: string, { tickers }: FollowedAssets): JobSpec {
  const body = readJson(path);
  const isSweep = typeof body === 'object' && body !== null && 'x_axis' in body;
  const within = (asked: { start: number | null; market_limit: number | null }) => ({
    startMs: asked.start,
    nowMs: systemClock.now(),
    marketLimit: asked.market_limit ?? MARKET_LIMIT_DEFAULT,
  });
  if (!isSweep) {
    const asked = readMembers(backtestMembers(tickers), body, path);
    refuse(executionProblems(asked), path);
    return { kind: 'backtest', ...specOf(asked, within(asked)) };
  }
  const asked = readMembers(sweepMembers(tickers), body, path);
  refuse([...axisProblems(asked), ...executionProblems(asked)], path);
  return { kind: 'sweep', ...specOf(asked, within(asked)), xAxis: asked.x_axis, yAxis: asked.y_axis };
}

function readMembers<M extends Members>(members: M, body: unknown, path: string): MemberValues<M> {
  const { values, problems, refusal } = readBody(members, body);
  refuse(problems, path);
  if (refusal !== null) throw new InvalidInputError(`${path}: ${refusal}`);
  return values;
}

function refuse(problems: readonly Problem[], path: string): void {
  if (problems.length === 0) return;
  const lines = problems.map(({ loc, msg }) => `${loc.slice(1).join('.') || 'body'}: ${msg}`);
  throw new InvalidInputError(`${path}: ${lines.join('; ')}`);
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new InvalidInputError(`${path}: ${(cause as Error).message}`, { cause });
  }
}
