/** What a reader must know before he believes a report, in words. */
import { countedSkips, windowsOverlap } from '../backtest/report.ts';
import { RETURNS_MIN } from '../core/statistics/returns.ts';
import { CONFIDENCE } from '../core/statistics/trackRecord.ts';
import { counted } from '../runtime/counted.ts';
import type { Report } from '../schema/report.ts';

/** A trade with a larger share of the P&L is named. */
const TRADE_SHARE_MAX = 0.5;
const COVERAGE_MIN = 0.9;
const SKIPPED_MAX = 0.05;

export function warningsOf(report: Omit<Report, 'warnings'>): string[] {
  if (report.trades_total === 0)
    return [NO_TRADES, ...ofOpen(report), ...ofReceipt(report), ...ofRecording(report)];
  return [
    ...ofReceipt(report),
    ...ofSample(report),
    ...ofOpen(report),
    ...ofSelection(report),
    ...ofExecution(report),
    ...ofRecording(report),
  ];
}

const NO_TRADES = 'No trades: the strategy bought nothing that was sold or paid out.';

type Body = Omit<Report, 'warnings'>;

function ofReceipt({ receipt }: Body): string[] {
  if (receipt.reproducible !== false) return [];
  return [
    'Not reproducible: the strategy used a clock or randomness of its own. Another run may give another result.',
  ];
}

function ofSample(report: Body): string[] {
  const { markets_traded: traded, largest_trade_share: share, intervals, trades_total: total } = report;
  const warnings: string[] = [];
  if (traded < RETURNS_MIN) {
    warnings.push(
      `Few trades: ${counted(traded, 'market was', 'markets were')} traded. Below ${RETURNS_MIN} no interval and no yearly ratio is computed.`,
    );
  }
  if (share !== null && share > 1) {
    warnings.push('One trade made all of the P&L: the other trades together lost money.');
  } else if (share !== null && share > TRADE_SHARE_MAX && total > 1) {
    warnings.push(`One trade made ${percent(share)} of the P&L.`);
  }
  if (hasOverlaps(report)) {
    warnings.push(
      'Windows of several series overlap. The intervals and ratios count them as independent markets.',
    );
  }
  const pnl = intervals?.total_pnl;
  if (pnl !== undefined && pnl[0] <= 0 && pnl[1] >= 0) {
    warnings.push('The 95 % interval of the P&L includes zero: chance alone could explain the result.');
  }
  if (report.trades_won === total) {
    warnings.push('No trade lost. The recording does not show how large a loss can be.');
  }
  return warnings;
}

function hasOverlaps({ markets }: Body): boolean {
  const traded = (markets ?? []).filter(({ skipped, trades }) => skipped === null && trades > 0);
  return windowsOverlap(
    traded.map(({ start, end }) => ({ startTimeMs: Date.parse(start), endTimeMs: Date.parse(end) })),
  );
}

function ofOpen({ trades, markets_skipped: skipped }: Body): string[] {
  const open = trades.filter(({ net_pnl: result }) => result === null).length;
  const left = new Set(skipped.map(({ market_id: id }) => id));
  const sold = trades.filter(({ market_id: id, net_pnl: result }) => result !== null && left.has(id)).length;
  const warnings: string[] = [];
  if (open > 0) {
    warnings.push(
      `${counted(open, 'position is', 'positions are')} still open. The P&L does not count open positions.`,
    );
  }
  if (sold > 0) {
    const them = sold === 1 ? 'it' : 'them';
    warnings.push(
      `${counted(sold, 'position was', 'positions were')} sold in unresolved markets. The P&L does not count ${them}.`,
    );
  }
  return warnings;
}

function ofSelection({ selection }: Body): string[] {
  const { trials_before: before, deflated_sharpe: deflated } = selection;
  if (before === null || before === 0 || deflated === null || deflated >= CONFIDENCE) return [];
  return [
    `After ${counted(before, 'earlier trial')} on the same series, the result is not better than chance with 95 % confidence.`,
  ];
}

function ofExecution({ queue_models: models, latency_curve: curve, total_pnl: pnl }: Body): string[] {
  const warnings: string[] = [];
  const pessimistic = models?.find(({ model }) => model === 'pessimistic');
  // Without resting orders every model has the same result, and the loss is not the model's.
  const isModelled = models?.some((model) => model.total_pnl !== pessimistic?.total_pnl);
  if (pessimistic !== undefined && pessimistic.total_pnl < 0 && isModelled) {
    warnings.push(
      `With the pessimistic queue model the strategy loses ${(-pessimistic.total_pnl).toFixed(2)} USD.`,
    );
  }
  const slow = pnl > 0 ? curve?.find(({ total_pnl: slower }) => slower <= 0) : undefined;
  if (slow !== undefined) {
    warnings.push(`The profit is gone at an order latency of ${slow.latency_ms} ms.`);
  }
  return warnings;
}

function ofRecording({ coverage, markets_skipped: skipped, markets_total: total }: Body): string[] {
  const warnings: string[] = [];
  if (skipped.length > SKIPPED_MAX * total) {
    warnings.push(
      `${skipped.length} of ${total} markets were left out: ${countedSkips(skipped.map(({ reason }) => reason))}.`,
    );
  }
  if (coverage < COVERAGE_MIN) {
    warnings.push(
      `The book was proven for ${percent(coverage)} of the time. Recordings fail more often in volatile markets.`,
    );
  }
  return warnings;
}

const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
