/** Writes the report of a strategy file's run, with its latency curve and its P&L under each queue model. */
import { QUEUE_MODELS } from '../core/desk/order.ts';
import { MICRO_PER_USDC } from '../core/fees.ts';
import { reportOf } from '../report/runReport.ts';
import type { TrialsFile } from '../report/trials.ts';
import { writeReport } from '../report/writeReport.ts';
import type { QueueModelResult } from '../schema/report.ts';
import type { RunSetting, StrategyFacts } from '../strategy/protocol.ts';
import type { RecordedRuns } from '../strategy/recordedRuns.ts';
import { runBody } from './strategyResults.ts';
import { constant } from './strategyTerms.ts';
import { recordTrial } from './trialsFile.ts';

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
  runs: RecordedRuns,
  asked: {
    readonly facts: StrategyFacts;
    readonly setting: RunSetting;
    readonly curveMs: readonly number[];
    readonly trials: TrialsFile;
  },
): void {
  const { facts, setting, curveMs, trials } = asked;
  const body = runBody(runs, { facts, setting, curveMs });
  const series = [...new Set(runs.markets.map((market) => `${market.ticker} ${market.eventType}`))]
    .sort()
    .join(', ');
  const question = [body.receipt.strategy_hash, setting];
  const trial = { series, question, dataHash: runs.dataHash, trials: 1 };
  const trialsBefore = trials.before(trial);
  recordTrial(trials, trial, { isNamed: false });
  const report = reportOf(body.result, {
    ...{ name: facts.name, params: setting.params, terms: setting.terms, receipt: { ...body.receipt } },
    outcomes: new Map(
      runs.markets.flatMap(({ marketId, outcome }) => (outcome === null ? [] : [[marketId, outcome]])),
    ),
    latencyCurve: body.latency_curve,
    queueModels: queueModels(runs, 1 + curveMs.length),
    ...{ trialsBefore, heldOut: null },
  });
  const names = writeReport(directory, report, body.result);
  console.error(`underround: report in ${directory}: ${names.join(', ')}`);
}

function queueModels({ results }: RecordedRuns, first: number): QueueModelResult[] {
  return QUEUE_MODELS.flatMap((model, at) => {
    const trades = results[first + at]?.result.trades;
    if (trades === undefined) return [];
    const closed = trades.filter(({ pnl }) => pnl !== null);
    const total = closed.reduce((sum, { pnl }) => sum + (pnl ?? 0), 0) / MICRO_PER_USDC;
    return [{ model, total_pnl: total, trades_total: closed.length }];
  });
}
