import { describe, expect, test } from 'vitest';
import { STUB_MARKET, stubStore } from '../../test/support/stubStore.ts';
import { FairQueue } from '../core/fairQueue.ts';
import { DEFAULT_PARAMS } from '../schema/api/strategies.ts';
import type { BacktestSpec, SweepSpec } from '../schema/backtest.ts';
import { printJson } from '../schema/moneyJson.ts';
import { runJob } from './jobRunner.ts';
import { type MarketSweep, notReplayed } from './marketReplay.ts';
import { packOutcome, reportBytes } from './packedOutcome.ts';
import { backtestResult, type ReplayedMarket } from './report.ts';
import { judgeSweep } from './sweepReport.ts';
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

const SWEEP: SweepSpec = {
  ...SPEC,
  xAxis: { param: 'threshold', start: 0.1, end: 0.3, steps: 3 },
  yAxis: null,
};
type TaskOf<Kind extends Task['kind']> = Extract<Task, { readonly kind: Kind }>;
const GAP = { startMs: 1, endMs: 2, knownMs: 3, seq: 4, knownSeq: 5, cause: 'connection', feed: 'clob' };

interface SweepRun {
  readonly spec?: Partial<SweepSpec>;
  readonly markets?: number;
  readonly threads?: number;
  /** Trades of all cells of a range. */
  readonly trades?: number;
  /** A market whose recording cannot be read; the last one is the oldest and read first. */
  readonly broken?: string;
}

/** A sweep whose tasks run in this thread. @returns Those that began, and the progress that was reported. */
async function sweep({ spec, markets = 1, threads = 1, trades = 0, broken }: SweepRun) {
  const tasks: Task[] = [];
  const progress: number[] = [];
  const run = async (task: Task) => {
    tasks.push(task);
    switch (task.kind) {
      case 'load':
        if (task.source.market.marketId === broken) throw new Error('away');
        return { tape: {}, hash: 'h' };
      case 'cells': {
        const none = { coverage: 1, offsets: new Uint32Array(task.to - task.from + 1) };
        return { ...none, skipped: null, closedMs: [], pnl: { length: trades } } as unknown as MarketSweep;
      }
      case 'judge':
        return { ...judgeSweep([], [], task), cells: [] };
      default:
        throw new Error(`a sweep has no task ${task.kind}`);
    }
  };
  const stub = stubStore();
  const rows = async (query: string, params: Record<string, unknown> = {}) => {
    const [row] = await stub.rows<object>(query, params);
    if (query.includes('FROM gaps')) return [{ ...GAP, marketId: STUB_MARKET }];
    if (!query.includes('AS yesTokenId')) return [row];
    return Array.from({ length: markets }, (_, at) => ({
      ...row,
      marketId: at === 0 ? STUB_MARKET : `0x${at}`,
    }));
  };
  const parts = {
    store: stubStore({ rows: rows as never }),
    workers: { threads, run, close: async () => {} } as unknown as Workers,
    ...{ turns: new FairQueue(threads), codeVersion: 'c', trialsBefore: async () => 7 },
  };
  const job = { jobId: 'sw_1', userId: 'usr_1', spec: { kind: 'sweep', ...SWEEP, ...spec } } as const;
  const work = { signal: new AbortController().signal, onProgress: (share: number) => progress.push(share) };
  const ended = await runJob(parts, job, work).then(
    () => null,
    (error: Error) => error.message,
  );
  await new Promise(setImmediate);
  const of = <Kind extends Task['kind']>(kind: Kind) =>
    tasks.filter((task): task is TaskOf<Kind> => task.kind === kind);
  return { ended, of, progress };
}

describe('a sweep', () => {
  const axis = (param: string, start: number, end: number, steps = 3) => ({ param, start, end, steps });

  test.each([
    { markets: 1, cells: 63, ranges: [[0, 63]] },
    {
      markets: 1,
      cells: 65,
      ranges: [
        [0, 33],
        [33, 65],
      ],
    },
    {
      markets: 2,
      cells: 1_000,
      ranges: [
        [0, 334],
        [334, 668],
        [668, 1_000],
      ],
    },
    { markets: 3, cells: 1_000, ranges: [[0, 1_000]] },
  ])(
    'over $markets markets gives three threads its $cells cells in ranges',
    async ({ markets, cells, ranges }) => {
      const spec = { xAxis: axis('threshold', 0.1, 0.3, cells) };
      const { ended, of } = await sweep({ spec, markets, threads: 3 });
      expect(ended).toBeNull();
      const asked = of('cells').map(({ from, to }) => [from, to]);
      expect(asked).toHaveLength(markets * ranges.length);
      expect(asked).toEqual(expect.arrayContaining(ranges));
    },
  );

  test('leaves the last twentieth of its progress to the comparison of its cells', async () => {
    const { of, progress } = await sweep({ markets: 2 });
    expect(progress).toEqual([0.475, 0.95]);
    expect(of('judge')).toMatchObject([{ trialsBefore: 7 }]);
  });

  const mid = { params: { ...DEFAULT_PARAMS, fill_mode: 'mid' } } as const;
  const execution = { entry: 'maker', offset: 0, timeout_s: 60, queue_model: 'pessimistic' } as const;
  test.each<[string, Partial<SweepSpec>, object]>([
    ['the books that its size needs', {}, { depth: 15, prices: false, trades: false }],
    ['the books of its largest size', { yAxis: axis('size_usd', 5_000, 10) }, { depth: 200 }],
    ['the books of a size on the x axis', { xAxis: axis('size_usd', 10, 500) }, { depth: 40 }],
    ['no books for fills at the mid', mid, { depth: null }],
    ['trades for orders that rest', { strategy: { ...SPEC.strategy, execution } }, { trades: true }],
  ])('reads %s', async (_shows, spec, terms) => {
    const [load] = (await sweep({ spec })).of('load');
    expect(load?.source.terms).toMatchObject(terms);
    expect(load?.source.gaps).toMatchObject([{ startMs: 1, endMs: 2 }]);
  });

  test('whose market cannot be read begins no further one', async () => {
    const { ended, of } = await sweep({ markets: 9, broken: '0x8' });
    expect(ended).toBe('away');
    expect(of('load')).toHaveLength(2);
  });

  test('ends when the trades of all its markets together are too many', async () => {
    const text = 'the cells made too many trades to be summed; use fewer cells or markets';
    expect((await sweep({ markets: 2, trades: 10_000_000 })).ended).toBeNull();
    expect((await sweep({ markets: 2, trades: 10_000_001 })).ended).toBe(text);
  });
});
