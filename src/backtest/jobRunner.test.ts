import { expect, test } from 'vitest';
import { stubStore } from '../../test/support/stubStore.ts';
import { FairQueue } from '../core/fairQueue.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { BacktestSpec } from '../schema/backtest.ts';
import { printJson } from '../schema/moneyJson.ts';
import { runJob } from './jobRunner.ts';
import { notReplayed } from './marketReplay.ts';
import { packOutcome, reportBytes } from './packedOutcome.ts';
import { backtestResult, type ReplayedMarket } from './report.ts';
import type { Task } from './task.ts';
import type { Workers } from './workerPool.ts';

const SPEC: BacktestSpec = {
  ...{ universe: { ticker: 'BTC', event_type: '5m' }, sizeUsd: 10, params: DEFAULT_PARAMS },
  strategy: { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  ...{ startMs: null, endMs: 1_795_176_300_000, marketLimit: 50 },
};

/** A backtest of one market whose tasks run in this thread. */
async function backtest(assemble: (task: Extract<Task, { kind: 'report' }>) => Uint8Array) {
  const replayed: ReplayedMarket[] = [];
  const run = async (task: Task) => {
    if (task.kind === 'report') return assemble(task);
    if (task.kind !== 'one') throw new Error(`a backtest has no task ${task.kind}`);
    const outcome = notReplayed('no_data');
    const market = { ...outcome, replay: { ...outcome.replay, skipped: null }, market: task.source.market };
    replayed.push(market);
    return { skipped: null, packed: packOutcome(market), hash: 'h' };
  };
  const workers = { threads: 1, run, close: async () => {} } as unknown as Workers;
  const parts = { store: stubStore(), workers, turns: new FairQueue(1), codeVersion: 'c' };
  const job = { jobId: 'bt_1', userId: 'usr_1', spec: { kind: 'backtest', ...SPEC } } as const;
  const work = { signal: new AbortController().signal, onProgress: () => {} };
  const result = await runJob({ ...parts, trialsBefore: async () => 0 }, job, work);
  return { result, replayed };
}

test('a worker thread assembles the result: its thousands of trades would block all requests', async () => {
  const { result } = await backtest(() => Buffer.from('{"assembled":"elsewhere"}'));
  expect(result).toBe('{"assembled":"elsewhere"}');
});

test('the assembled result has every figure of the outcomes', async () => {
  const receipts: BacktestReceipt[] = [];
  const { result, replayed } = await backtest((task) => {
    receipts.push(task.receipt);
    return reportBytes(task);
  });
  const [receipt] = receipts;
  expect(receipt).toMatchObject({ code_version: 'c', seed: 1 });
  expect(result).toBe(
    printJson(backtestResult(replayed, { spec: SPEC, receipt: receipt as BacktestReceipt })),
  );
});

type BacktestReceipt = Extract<Task, { kind: 'report' }>['receipt'];
