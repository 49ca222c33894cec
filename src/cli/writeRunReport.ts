/** Writes the report of a strategy file's run, with its latency curve and its P&L under each queue model. */
import { QUEUE_MODELS } from '../core/desk/order.ts';
import { reportOf } from '../report/runReport.ts';
import { writeReport } from '../report/writeReport.ts';
import type { QueueModelResult } from '../schema/report.ts';
import type { RunSetting, StrategyFacts } from '../strategy/protocol.ts';
import type { RecordedRuns } from '../strategy/recordedRuns.ts';
import { type FileRuns, figuresOf, runBody } from './strategyResults.ts';
import { constant } from './strategyTerms.ts';
import { openTrials, recordTrial } from './trialsFile.ts';

/** The settings that a report adds to a run: its points of the latency curve, then each queue model. */
export function reportSettings(own: RunSetting, curveMs: readonly number[]): RunSetting[] {
  const { terms } = own;
  return [
    ...curveMs.map((ms) => ({ ...own, terms: { ...terms, orderLatency: constant(ms) } })),
    ...QUEUE_MODELS.map((queueModel) => ({ ...own, terms: { ...terms, queueModel } })),
  ];
}

/** @param runs The run itself, then the runs of `reportSettings`. */
export function writeRunReport(
  directory: string,
  runs: FileRuns,
  asked: {
    readonly facts: StrategyFacts;
    readonly setting: RunSetting;
    readonly curveMs: readonly number[];
    readonly trialsBefore: number;
  },
): void {
  const { facts, setting, curveMs, trialsBefore } = asked;
  const body = runBody(runs, { facts, setting, curveMs });
  const report = reportOf(body.result, {
    ...{ name: facts.name, params: setting.params, terms: setting.terms, receipt: { ...body.receipt } },
    outcomes: new Map(
      runs.markets.flatMap(({ marketId, outcome }) => (outcome === null ? [] : [[marketId, outcome]])),
    ),
    latencyCurve: body.latency_curve,
    queueModels: queueModels(runs, 1 + curveMs.length),
    ...{ trialsBefore, heldOut: runs.heldOut },
  });
  const names = writeReport(directory, report, body.result);
  console.error(`underround: report in ${directory}: ${names.join(', ')}`);
}

/**
 * Counts a run, or the cells of a sweep, against later ones.
 * @param path Of `--trials`.
 * @returns The number of earlier trials on the same series.
 */
export function countRunTrial(
  { markets, codeHash, dataHash }: RecordedRuns,
  path: string | undefined,
  { question, cells }: { question: readonly unknown[]; cells: number },
): number {
  const series = [...new Set(markets.map(({ ticker, eventType }) => `${ticker} ${eventType}`))].sort();
  const trial = { series: series.join(', '), question: [codeHash, ...question], dataHash, trials: cells };
  const trials = openTrials(path);
  const before = trials.before(trial);
  recordTrial(trials, trial, { isNamed: path !== undefined });
  return before;
}

function queueModels({ results }: RecordedRuns, first: number): QueueModelResult[] {
  return QUEUE_MODELS.flatMap((model, at) => {
    const result = results[first + at]?.result;
    if (result === undefined) return [];
    const { total_pnl, trades_total } = figuresOf(result);
    return [{ model, total_pnl, trades_total }];
  });
}
