import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { axisProblems, executionProblems, specOf } from '../backtest/asked.ts';
import { writeResult } from '../report/writeReport.ts';
import { systemClock } from '../runtime/clock.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { systemReason } from '../runtime/systemReason.ts';
import { backtestMembers, MARKET_LIMIT_DEFAULT, sweepMembers } from '../schema/api/backtests.ts';
import { type Members, type MemberValues, readBody } from '../schema/api/body.ts';
import type { Problem } from '../schema/api/fields.ts';
import type { JobSpec } from '../schema/backtest.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { printJson } from '../schema/moneyJson.ts';
import { printBacktest, printSweep } from './backtestTables.ts';
import { interruptible } from './failure.ts';
import { withHoldOut } from './holdOut.ts';
import type { JobOptions, JobRun } from './jobRun.ts';
import { withLocalJobs } from './localJobs.ts';
import { optionWord } from './optionWord.ts';
import { runWalkForward, walkForwardPlan } from './runWalkForward.ts';
import { followedAssets, readSettings } from './settings.ts';
import type { StrategyOptions } from './strategyOptions.ts';
import { jobTrial, openTrials, recordTrial } from './trialsFile.ts';
import { writeJobReport } from './writeJobReport.ts';

/** Options for strategy files alone, with the member of a request that says the same; null: none does. */
const STRATEGY_FILE_OPTIONS = {
  ticker: 'universe.ticker',
  eventType: 'universe.event_type',
  param: 'strategy',
  seed: null,
  cash: null,
  latency: 'params.latency_ms',
  queue: 'strategy.execution.queue_model',
  maxExposure: null,
  redemptionDelay: null,
  eventTimeout: null,
  start: 'start',
  end: 'end',
  marketLimit: 'market_limit',
  url: null,
  latencyCurve: null,
} as const satisfies Record<Exclude<keyof StrategyOptions, keyof JobOptions>, string | null>;

/**
 * Runs the job described by a file and prints its result. A refusal is one line on standard error and exit status 1.
 * @param expected The only kind of job that the command accepts; null: either.
 */
export async function runBacktest(
  path: string,
  options: JobOptions & StrategyOptions,
  expected: JobSpec['kind'] | null = null,
): Promise<void> {
  await interruptible(async (signal) => {
    refuseStrategyFileOptions(path, options);
    const asked = readSpec(path, followedAssets());
    if (expected === 'sweep' && asked.kind !== 'sweep') {
      throw new InvalidInputError(
        `${path}: a sweep needs \`x_axis\`; \`underround backtest\` runs a file without it`,
      );
    }
    const held = withHoldOut(asked, options.holdOut);
    const plan = walkForwardPlan(options.walkForward, asked);
    const trials = openTrials(options.trials);
    const config = await readSettings({ dataDir: options.dataDir, use: 'read recording' });
    await withLocalJobs({ config, trials, signal }, async (jobs) => {
      const run = { jobs, path, trials, options, heldOut: held.heldOut };
      if (plan !== null && held.asked.kind === 'sweep') await runWalkForward(run, held.asked, plan);
      else await runOnce(run, held.asked);
    });
  });
}

/** An ignored option would give the result of another range, latency or recording. @throws {InvalidInputError} */
function refuseStrategyFileOptions(path: string, options: StrategyOptions): void {
  for (const [name, member] of Object.entries(STRATEGY_FILE_OPTIONS)) {
    if (options[name as keyof typeof STRATEGY_FILE_OPTIONS] === undefined) continue;
    const instead = member === null ? 'it does not apply to JSON files' : `set \`${member}\` in the file`;
    throw new InvalidInputError(`${path}: ${optionWord(name)} is for strategy files; ${instead}`);
  }
}

async function runOnce({ jobs, path, trials, options, heldOut }: JobRun, spec: JobSpec): Promise<void> {
  const printed = await jobs.run(spec);
  const result = JSON.parse(printed);
  const trial = jobTrial(spec, result.receipt.data_hash);
  const trialsBefore = trials.before(trial);
  recordTrial(trials, trial, { isNamed: options.trials !== undefined });
  if (heldOut !== null) result.receipt.held_out = heldOut;
  const { out } = options;
  if (out !== undefined && spec.kind === 'backtest') {
    await writeJobReport(out, jobs, { spec, result, path, trialsBefore, heldOut });
  } else if (out !== undefined) writeResult(join(out, 'sweep.json'), result);
  if (options.json) console.log(heldOut === null ? printed : printJson(result));
  else console.log(spec.kind === 'sweep' ? printSweep(result, trials.path) : printBacktest(result));
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
    throw new InvalidInputError(`${path}: ${systemReason(cause)}`, { cause });
  }
}
