import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { EMPTY, M, writeDataSet } from '../../test/support/apiDataSet.ts';
import { detection } from '../../test/support/detections.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import { STUB_JOB, stubBacktests } from '../../test/support/stubBacktests.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import type { Database } from '../control/schema.ts';
import { openControlDatabase } from '../controlDatabase.ts';
import { EXPORT_COLUMNS, EXPORT_DATASETS, type ExportDataset } from '../schema/export.ts';
import { AuditLog } from '../signals/auditLog.ts';
import { AuditReader } from '../signals/auditReader.ts';

let opened: TestStore;
let control: Database;
let app: FastifyInstance;

const TIMES = { decided_at: '2026-11-20T12:01:00.000+00:00', opened_at: '2026-11-20T12:01:00.250+00:00' };
const TRADE = {
  ...{ market_id: M, side: 'buy_yes', ...TIMES, closed_at: null, decision_price: 0.5, entry_price: 0.51 },
  ...{ exit_price: null, shares: 10, size_usd: 5.1, fees_usd: 0.02, slippage: 0.01, entry_slippage: 0.01 },
  ...{ exit_slippage: null, entry_levels: 2, exit_levels: null, net_pnl: null, outcome: null },
  exit_reason: null,
};
const CELL = {
  ...{ trades_total: 3, total_pnl: -1.25, win_rate: null, sharpe_per_market: 0.1, max_drawdown: -2 },
  ...{ profit_factor: null, error: null },
};
/** Results as they are stored. */
const RESULTS: Readonly<Record<string, unknown>> = {
  bt_1: { trades: [TRADE, { ...TRADE, opened_at: '2026-11-20T12:02:00.000+00:00' }] },
  sw_1: {
    x_axis: { param: 'threshold', values: [0.1, 0.2] },
    y_axis: { param: 'take_profit', values: [0.9] },
    cells: [[CELL, { ...CELL, error: 'no market' }]],
  },
};
const jobs: typeof stubBacktests.jobs = {
  ...stubBacktests.jobs,
  find: async (jobId, owner) => {
    const job = await stubBacktests.jobs.find(STUB_JOB, owner);
    if (jobId === STUB_JOB) return job;
    if (job === null || RESULTS[jobId] === undefined) return null;
    return { ...job, jobId, status: 'complete', kind: jobId.startsWith('sw_') ? 'sweep' : 'backtest' };
  },
  result: async (jobId) => JSON.stringify(RESULTS[jobId]),
};

beforeAll(async () => {
  opened = await openTestStore();
  writeDataSet(opened.store.writer);
  await opened.store.writer.flush();
  control = await openControlDatabase({ dataDir: temporaryDirectory(afterAll), databaseUrl: null });
  const log = new AuditLog(control, new FakeClock());
  const signal = detection({ marketId: M, slug: '=btc "5m"' });
  await log.detected(detection({ marketId: EMPTY, detectedMs: signal.detectedMs + 1_000, spot: null }));
  await log.detected(signal);
  await log.executable(signal.auditId, [
    { afterMs: 50, fillPrice: 0.93, size: 80 },
    { afterMs: 250, fillPrice: null, size: 0 },
  ]);
  const audit = new AuditReader(control);
  const signals = { board: { read: () => ({ asOfMs: 0, opportunities: [] }), outlook: () => null }, audit };
  app = testApi({ store: opened.store, signals, backtests: { ...stubBacktests, jobs } });
});
afterAll(async () => {
  await app?.close();
  await control?.destroy();
  await opened?.dispose();
});

const timeOf = (ms: number) => new Date(ms).toISOString().replace('Z', '+00:00');

/** The required parameter of each dataset. */
const SUBJECTS = {
  snapshots: `market_id=${M}`,
  quotes: `market_id=${M}`,
  trades: `market_id=${M}`,
  underlying: 'ticker=BTC&source=chainlink',
  perp_depth: 'ticker=BTC',
  deltas: `market_id=${M}`,
  markets: 'ticker=BTC&event_type=5m',
  gaps: `market_id=${M}`,
  signals: `market_id=${M}`,
  job_trades: 'job_id=bt_1',
  job_cells: 'job_id=sw_1',
} as const;
/** The columns that an export has and a list of the API has not. */
const BEYOND_LISTS = [
  'market_id',
  'ticker',
  'source',
  'venue',
  'received_at',
  'seq',
  'trusted_on_arrival',
  'late',
  'engine_time',
  'round_trip_ms',
];
const columnsOf = (dataset: ExportDataset) => EXPORT_COLUMNS[dataset].map(({ name }) => name);
/** The window of the market. */
const WINDOW = '20261120T120000Z-20261120T120500Z';
const NAMES: Readonly<Record<ExportDataset, string>> = {
  snapshots: `snapshots-btc-updown-5m-1795176000-${WINDOW}`,
  deltas: `deltas-btc-updown-5m-1795176000-${WINDOW}`,
  quotes: `quotes-btc-updown-5m-1795176000-${WINDOW}`,
  trades: `trades-btc-updown-5m-1795176000-${WINDOW}`,
  underlying: 'underlying-BTC-chainlink-20261120T120000.010Z-20261120T120000.010Z',
  perp_depth: 'perp_depth-BTC-bybit-20261120T120000Z-20261120T120000.400Z',
  markets: `markets-BTC-5m-${WINDOW}`,
  gaps: `gaps-btc-updown-5m-1795176000-${WINDOW}`,
  signals: `signals-btc-updown-5m-1795176000-${WINDOW}`,
  job_trades: 'job_trades-bt_1',
  job_cells: 'job_cells-sw_1',
};
/** The paged endpoints that return the same rows. */
const LISTS = {
  snapshots: [`/v1/snapshots?market_id=${M}`, 'snapshots'],
  trades: [`/v1/trades?market_id=${M}`, 'trades'],
  underlying: ['/v1/underlying?ticker=BTC&source=chainlink', 'points'],
  perp_depth: ['/v1/perp/depth?ticker=BTC', 'snapshots'],
} as const;

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/;

const ask = (query: string) => app.inject({ url: `/v1/export?${query}`, headers: KEY });

async function rowsOf(query: string): Promise<Record<string, unknown>[]> {
  const { statusCode, headers, body } = await ask(query);
  expect([statusCode, headers['content-type']]).toEqual([200, 'application/x-ndjson']);
  return body
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

describe('JSON lines', () => {
  test.each(Object.entries(LISTS))('%s contain the rows of %s', async (dataset, [url, list]) => {
    const { [list]: listed } = (await app.inject({ url, headers: KEY })).json() as Record<
      string,
      Record<string, unknown>[]
    >;
    const rows = await rowsOf(`dataset=${dataset}&${SUBJECTS[dataset as keyof typeof SUBJECTS]}`);
    expect(rows.length).toBeGreaterThan(0);
    expect(
      rows.map((row) => {
        expect(row.received_at).toMatch(/^2026-11-20T\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
        return Object.fromEntries(Object.entries(row).filter(([name]) => !BEYOND_LISTS.includes(name)));
      }),
    ).toEqual((listed ?? []).map(({ underlying_ticker: _, ...row }) => row));
  });

  test('quotes contain every change of a best price of either token', async () => {
    const rows = await rowsOf(`dataset=quotes&${SUBJECTS.quotes}`);
    const { total } = (
      await app.inject({ url: `/v1/markets/${M}/timeseries?limit=0`, headers: KEY })
    ).json() as { total: number };
    expect(rows.length).toBeGreaterThanOrEqual(total);
    expect(rows[0]).toMatchObject({ trusted: expect.any(Boolean), yes_bid: expect.any(Number) });
  });

  test.each(EXPORT_DATASETS)('%s: the declared columns, in order', async (dataset) => {
    const [row = {}] = await rowsOf(`dataset=${dataset}&${SUBJECTS[dataset]}`);
    expect(Object.keys(row)).toEqual(columnsOf(dataset));
  });

  test('a range includes its start and excludes its end', async () => {
    const all = await rowsOf(`dataset=trades&${SUBJECTS.trades}`);
    const [first, last] = [all[0]?.ts, all.at(-1)?.ts] as string[];
    const within = `start=${encodeURIComponent(String(first))}&end=${encodeURIComponent(String(last))}`;
    expect(await rowsOf(`dataset=trades&${SUBJECTS.trades}&${within}`)).toEqual(
      all.filter(({ ts }) => ts !== last),
    );
    expect(await rowsOf(`dataset=trades&${SUBJECTS.trades}&start=2027-01-01`)).toEqual([]);
  });
});

describe('CSV', () => {
  test.each(EXPORT_DATASETS)('%s: a header, and one line per row', async (dataset) => {
    const rows = await rowsOf(`dataset=${dataset}&${SUBJECTS[dataset]}`);
    const { headers, body } = await ask(`dataset=${dataset}&${SUBJECTS[dataset]}&format=csv`);
    expect(headers).toMatchObject({
      'content-type': 'text/csv',
      'content-disposition': `attachment; filename="${NAMES[dataset]}.csv"`,
    });
    const [header, ...lines] = body.split('\n').slice(0, -1);
    expect(header).toBe(columnsOf(dataset).join(','));
    expect(lines).toHaveLength(rows.length);
    expect(lines[0]).toContain(`"${Object.values(rows[0] ?? {})[0]}"`);
  });

  test('no text starts a spreadsheet formula; other formats keep it, and numbers stay numbers', async () => {
    const ids = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '', 'a=1', "'=1", '1-1'];
    const from = Date.UTC(2026, 10, 21);
    for (const [at, tradeId] of ids.entries()) {
      const times = { seq: 1_000_000 + at, eventTimeMs: from + at, receivedTimeMs: from + at };
      opened.store.writer.trade({
        ...times,
        marketId: M,
        side: 'BUY_YES',
        price: 5000,
        size: 1_000_000,
        tradeId,
      });
    }
    await opened.store.writer.flush();
    const asked = `dataset=trades&${SUBJECTS.trades}&start=2026-11-21`;
    const shown = ids.map((id, at) => (at < 6 || id.startsWith("'") ? `'${id}` : id));
    const { body } = await ask(`${asked}&format=csv`);
    expect(body.split('\n').slice(1, -1)).toEqual(
      shown.map(
        (id, at) =>
          `"${M}","${timeOf(from + at)}","${timeOf(from + at)}","BUY_YES",0.5,1,"${id}",${1_000_000 + at}`,
      ),
    );
    expect((await rowsOf(asked)).map(({ trade_id }) => trade_id)).toEqual(ids);
  });

  test('an empty export is only the header', async () => {
    const { body } = await ask(`dataset=trades&${SUBJECTS.trades}&format=csv&start=2027-01-01`);
    expect(body).toBe('market_id,ts,received_at,side,price,size,trade_id,seq\n');
  });
});

describe('Parquet', () => {
  test.each(EXPORT_DATASETS)('%s: the same rows, with times as timestamps', async (dataset) => {
    const rows = await rowsOf(`dataset=${dataset}&${SUBJECTS[dataset]}`);
    const { headers, rawPayload } = await ask(`dataset=${dataset}&${SUBJECTS[dataset]}&format=parquet`);
    expect(headers).toMatchObject({
      'content-type': 'application/vnd.apache.parquet',
      'content-disposition': `attachment; filename="${NAMES[dataset]}.parquet"`,
    });
    const path = join(temporaryDirectory(), `${dataset}.parquet`);
    writeFileSync(path, rawPayload);
    const read = await opened.store.rows<Record<string, unknown>>(
      'SELECT * FROM file({path:String}, Parquet)',
      { path },
    );
    const stored = (value: unknown) =>
      typeof value === 'string' && TIME.test(value) ? value.replace('T', ' ').slice(0, -6) : value;
    expect(read).toEqual(
      rows.map((row) =>
        Object.fromEntries(Object.entries(row).map(([name, value]) => [name, stored(value)])),
      ),
    );
  });
});

test('ladders in CSV are JSON, and null is an empty cell', async () => {
  const { body } = await ask(`dataset=snapshots&${SUBJECTS.snapshots}&format=csv`);
  const [, , second] = body.split('\n');
  const yesBids = '"[{""price"":0.5,""size"":1}]"';
  expect(second).toContain(`,true,,${yesBids},"[]",`);
});

test('deltas are the levels that changed; the first book is complete', async () => {
  const rows = await rowsOf(`dataset=deltas&${SUBJECTS.deltas}`);
  const shown = rows.map(({ seq, token, side, price, size, is_snapshot: isSnapshot }) =>
    [seq, token, side, price, size, isSnapshot].join(' '),
  );
  expect(shown).toMatchInlineSnapshot(`
    [
      "4 yes bid 0.5 1 true",
      "4 yes bid 0.49 2.5 true",
      "4 yes ask 0.53 80 true",
      "4 no bid 0.47 80 true",
      "4 no ask 0.5 1 true",
      "4 no ask 0.51 2.5 true",
      "5 yes bid 0.49 0 false",
      "5 yes ask 0.53 0 false",
      "5 no bid 0.47 0 false",
      "5 no ask 0.51 0 false",
      "6 yes bid 0.999 1.234567 false",
      "6 yes bid 0.5 0 false",
      "6 yes ask 0.9991 0.000003 false",
      "6 no bid 0.01 5 false",
      "6 no ask 0.5 0 false",
    ]
  `);
});

describe('signals', () => {
  test('are the audit rows of markets, oldest first, with their fills and links', async () => {
    const all = await rowsOf('dataset=signals');
    expect(all.map(({ market_id: id }) => id)).toEqual([M, EMPTY]);
    expect(await rowsOf('dataset=signals&ticker=BTC&event_type=5m')).toEqual(all);
    expect(await rowsOf('dataset=signals&ticker=ETH&event_type=5m')).toEqual([]);
    const second = encodeURIComponent(String(all[1]?.detected_at));
    expect(await rowsOf(`dataset=signals&start=${second}`)).toEqual(all.slice(1));
    expect(await rowsOf(`dataset=signals&end=${second}`)).toEqual(all.slice(0, 1));
    const { rows } = (await app.inject({ url: '/v1/arb/audit', headers: KEY })).json();
    expect(all[0]).toMatchObject({
      ...{ fill_price_after_50ms: 0.93, size_after_50ms: 80, fill_price_after_250ms: null },
      ...{ size_after_250ms: 0, fill_price_after_500ms: null, size_after_500ms: null },
    });
    const shared = (row: Record<string, unknown> | undefined, other: object) =>
      Object.fromEntries(Object.entries(row ?? {}).filter(([name]) => name in other));
    for (const [at, row] of (rows as Record<string, unknown>[]).reverse().entries()) {
      expect(shared(all[at], row)).toEqual(shared(row, all[at] ?? {}));
    }
  });
});

describe('results of jobs', () => {
  test('trades of a backtest may have a range; cells of a sweep have the values of their axes', async () => {
    const trades = await rowsOf('dataset=job_trades&job_id=bt_1&start=2026-11-20T12:02:00Z');
    expect(trades).toMatchObject([
      { job_id: 'bt_1', market_id: M, opened_at: '2026-11-20T12:02:00.000+00:00' },
    ]);
    const cells = await rowsOf('dataset=job_cells&job_id=sw_1');
    expect(cells.map((cell) => [cell.x_param, cell.x_value, cell.y_param, cell.y_value, cell.error])).toEqual(
      [
        ['threshold', 0.1, 'take_profit', 0.9, null],
        ['threshold', 0.2, 'take_profit', 0.9, 'no market'],
      ],
    );
  });

  test.each([
    ['dataset=job_trades&job_id=bt_none', 404, 'Job not found'],
    ['dataset=job_cells&job_id=bt_1', 409, 'bt_1 is a backtest; job_cells needs a sweep'],
    [`dataset=job_trades&job_id=${STUB_JOB}`, 409, 'bt_stub is failed; only a complete job has a result'],
  ])('%s', async (query, status, detail) => {
    const { statusCode, body } = await ask(query);
    expect([statusCode, JSON.parse(body)]).toEqual([status, { detail }]);
  });
});

describe('several markets', () => {
  test('named ones and a series: rows one market after the other, by the starts of their windows', async () => {
    const both = await rowsOf(`dataset=trades&market_id=${EMPTY},${M}`);
    expect(both).toEqual(await rowsOf(`dataset=trades&${SUBJECTS.trades}`));
    expect(await rowsOf('dataset=trades&ticker=BTC&event_type=5m')).toEqual(both);
    expect(await rowsOf('dataset=trades&ticker=ETH&event_type=15m')).toEqual([]);
    const { headers } = await ask(`dataset=trades&market_id=${EMPTY},${M}&start=2026-11-20`);
    expect(headers['content-disposition']).toBe(
      'attachment; filename="trades-2-markets-20261120T000000Z-20261120T121500Z.jsonl"',
    );
  });

  test('all markets and gaps need no name', async () => {
    expect((await rowsOf('dataset=markets')).map(({ market_id: id }) => id)).toEqual([M, EMPTY]);
    expect((await rowsOf('dataset=gaps')).map(({ gap_id: id }) => id)).toEqual(['gap_1', 'gap_2']);
    expect(await rowsOf('dataset=gaps&ticker=ETH&event_type=15m')).toEqual([]);
  });
});

describe('the manifest', () => {
  const manifestOf = async (query: string) =>
    (await app.inject({ url: `/v1/export/manifest?${query}`, headers: KEY })).json();

  test.each(EXPORT_DATASETS)('%s: rows, columns, and one hash for all formats', async (dataset) => {
    const query = `dataset=${dataset}&${SUBJECTS[dataset]}`;
    const manifest = await manifestOf(query);
    expect(manifest.rows).toBe((await rowsOf(query)).length);
    expect(manifest.columns.map(({ name }: { name: string }) => name)).toEqual(columnsOf(dataset));
    expect(manifest.file).toEqual({
      name: `${NAMES[dataset]}.jsonl`,
      format: 'jsonl',
      bytes: null,
      sha256: null,
    });
    const csv = await manifestOf(`${query}&format=csv`);
    expect(csv.data_sha256).toBe(manifest.data_sha256);
  });

  test('it has the gaps of the markets in the range', async () => {
    const query = `dataset=snapshots&${SUBJECTS.snapshots}`;
    const { gaps } = await manifestOf(query);
    expect(gaps).toEqual(await rowsOf(`dataset=gaps&${SUBJECTS.gaps}`));
    expect((await manifestOf(`${query}&end=2026-11-20T12:10:00Z`)).gaps).toEqual([gaps[0]]);
  });
});

test('perp_depth contains the rows of the venue asked for', async () => {
  const rows = await rowsOf('dataset=perp_depth&ticker=BTC&venue=okx');
  expect(rows).toMatchObject([{ update_id: 7, bids: [[97_000.1, 0.605]], n_asks: 0 }]);
  expect(await rowsOf('dataset=perp_depth&ticker=BTC&venue=hyperliquid')).toEqual([]);
  expect(await rowsOf('dataset=perp_depth&ticker=BTC')).toHaveLength(3);
});

describe('refusals', () => {
  test.each([
    ['snapshots', 'market_id'],
    ['quotes', 'market_id'],
    ['trades', 'market_id'],
    ['underlying', 'ticker'],
    ['perp_depth', 'ticker'],
    ['deltas', 'market_id'],
    ['job_trades', 'job_id'],
    ['job_cells', 'job_id'],
  ])('%s without %s', async (dataset, name) => {
    const { statusCode, body } = await ask(`dataset=${dataset}&start=2027-01-01&end=2026-01-01`);
    const problem = { type: 'missing', loc: ['query', name], msg: 'Field required', input: null };
    expect([statusCode, JSON.parse(body)]).toEqual([422, { detail: [problem] }]);
  });

  test.each([
    [`dataset=trades&market_id=${M}&start=2027-01-01&end=2026-01-01`, 400, 'start must not be after end'],
    ['dataset=trades&market_id=nope', 404, 'Market not found'],
    [`dataset=trades&market_id=${M},nope`, 404, 'Market not found'],
  ])('%s', async (query, status, detail) => {
    const { statusCode, body } = await ask(query);
    expect([statusCode, JSON.parse(body)]).toEqual([status, { detail }]);
  });
});
