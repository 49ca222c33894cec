import { existsSync, readFileSync } from 'node:fs';
import { axisProblems, specOf } from '../backtest/asked.ts';
import { codeVersion } from '../backtest/codeVersion.ts';
import { runJob } from '../backtest/jobRunner.ts';
import { startWorkers } from '../backtest/service.ts';
import { systemClock } from '../clock.ts';
import { loadConfig } from '../config.ts';
import { Turns } from '../core/turns.ts';
import { InvalidInputError } from '../errors.ts';
import { silentLogger } from '../ops/log.ts';
import { Metrics } from '../ops/metrics.ts';
import { backtestMembers, MARKET_LIMIT_DEFAULT, sweepMembers } from '../schema/api/backtests.ts';
import { type Members, type MemberValues, readBody } from '../schema/api/body.ts';
import type { Problem } from '../schema/api/fields.ts';
import type { JobSpec } from '../schema/backtest.ts';
import { API_VERSION } from '../schema/version.ts';
import { StoreClient } from '../store/client.ts';
import { reachEngine } from '../store/engineAccess.ts';
import { finishRecovery } from '../store/recovery.ts';
import { printBacktest, printSweep } from './backtestTables.ts';
import { interruptible } from './failure.ts';
import { Progress, recoveryProgress } from './progress.ts';

/** Whoever may read the data directory has no tier. */
const OWN = { jobId: 'bt_command', userId: 'command' };

/** Runs the job of a file and prints its result; a refusal is one line on standard error and exit status 1. */
export async function runBacktest(
  path: string,
  options: { json?: boolean; dataDir?: string },
): Promise<void> {
  await interruptible(async (signal) => {
    const spec = readSpec(path);
    const loaded = loadConfig();
    const config = { ...loaded, dataDir: options.dataDir ?? loaded.dataDir };
    const result = await run(spec, config, signal);
    if (options.json) console.log(result);
    else
      console.log(spec.kind === 'sweep' ? printSweep(JSON.parse(result)) : printBacktest(JSON.parse(result)));
  });
}

async function run(
  spec: JobSpec,
  config: ReturnType<typeof loadConfig>,
  signal: AbortSignal,
): Promise<string> {
  if (config.clickhouseUrl === null && !existsSync(config.dataDir)) {
    throw new InvalidInputError(`there is no data directory ${config.dataDir}`);
  }
  // A running service's engine is found and used; else one is started and ended with us.
  const parts = { clock: systemClock, log: silentLogger };
  const metrics = new Metrics();
  const access = await reachEngine({ ...config, ...parts, metrics });
  const store = new StoreClient({ access, ...parts });
  const workers = startWorkers({ config, log: silentLogger });
  const progress = new Progress(spec.kind);
  try {
    const { dataDir } = config;
    await finishRecovery({ ...parts, dataDir, client: store, metrics, onRecovery: recoveryProgress() });
    const turns = new Turns(workers.threads);
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
    await access.close();
  }
}

/** @throws {InvalidInputError} Naming everything that is wrong with the file. */
function readSpec(path: string): JobSpec {
  const body = readJson(path);
  const isSweep = typeof body === 'object' && body !== null && 'x_axis' in body;
  const within = (asked: { start: number | null; market_limit: number | null }) => ({
    startMs: asked.start,
    nowMs: systemClock.now(),
    marketLimit: asked.market_limit ?? MARKET_LIMIT_DEFAULT,
  });
  if (!isSweep) {
    const asked = readMembers(backtestMembers, body, path);
    return { kind: 'backtest', ...specOf(asked, within(asked)) };
  }
  const asked = readMembers(sweepMembers, body, path);
  refuse(axisProblems(asked), path);
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
  const told = problems.map(({ loc, msg }) => `${loc.slice(1).join('.') || 'body'}: ${msg}`);
  throw new InvalidInputError(`${path}: ${told.join('; ')}`);
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new InvalidInputError(`${path}: ${(cause as Error).message}`, { cause });
  }
}
