import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KEY, testApi } from '../../test/support/api.ts';
import { M, writeDataSet } from '../../test/support/apiDataSet.ts';
import { openTestStore, type TestStore } from '../../test/support/store.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { EXPORT_DATASETS } from '../schema/export.ts';
import { exportColumns } from '../store/queries/exports.ts';

let opened: TestStore;
let app: FastifyInstance;

beforeAll(async () => {
  opened = await openTestStore();
  writeDataSet(opened.store.writer);
  await opened.store.writer.flush();
  app = testApi({ store: opened.store });
});
afterAll(async () => {
  await app?.close();
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
} as const;
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
      rows.map(({ received_at: receivedAt, ...row }) => {
        expect(receivedAt).toMatch(/^2026-11-20T\d\d:\d\d:\d\d\.\d{3}\+00:00$/);
        return row;
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
    expect(Object.keys(row)).toEqual(exportColumns(dataset));
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
      'content-disposition': `attachment; filename="${dataset}.csv"`,
    });
    const [header, ...lines] = body.split('\n').slice(0, -1);
    expect(header).toBe(exportColumns(dataset).join(','));
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
    const shown = ids.map((id, at) => (at < 6 ? `'${id}` : id));
    const { body } = await ask(`${asked}&format=csv`);
    expect(body.split('\n').slice(1, -1)).toEqual(
      shown.map((id, at) => `"${timeOf(from + at)}","${timeOf(from + at)}","BUY_YES",0.5,1,"${id}"`),
    );
    expect((await rowsOf(asked)).map(({ trade_id }) => trade_id)).toEqual(ids);
  });

  test('an empty export is only the header', async () => {
    const { body } = await ask(`dataset=trades&${SUBJECTS.trades}&format=csv&start=2027-01-01`);
    expect(body).toBe('ts,received_at,side,price,size,trade_id\n');
  });
});

describe('Parquet', () => {
  test.each(EXPORT_DATASETS)('%s: the same rows, with times as timestamps', async (dataset) => {
    const rows = await rowsOf(`dataset=${dataset}&${SUBJECTS[dataset]}`);
    const { headers, rawPayload } = await ask(`dataset=${dataset}&${SUBJECTS[dataset]}&format=parquet`);
    expect(headers).toMatchObject({
      'content-type': 'application/vnd.apache.parquet',
      'content-disposition': `attachment; filename="${dataset}.parquet"`,
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

  test('a Parquet file with too many rows is refused before it is built', async () => {
    const many = { ...opened.store, rows: async () => [{ total: '200001' }] as never };
    const limited = testApi({ store: many });
    const { statusCode, body } = await limited.inject({
      url: '/v1/export?dataset=perp_depth&ticker=BTC&format=parquet',
      headers: KEY,
    });
    await limited.close();
    expect([statusCode, JSON.parse(body).detail]).toEqual([
      400,
      '200,001 rows; a Parquet file holds at most 200,000: name a shorter range, or another format',
    ]);
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
  ])('%s without %s', async (dataset, name) => {
    const { statusCode, body } = await ask(`dataset=${dataset}&start=2027-01-01&end=2026-01-01`);
    const problem = { type: 'missing', loc: ['query', name], msg: 'Field required', input: null };
    expect([statusCode, JSON.parse(body)]).toEqual([422, { detail: [problem] }]);
  });

  test.each([
    [`dataset=trades&market_id=${M}&start=2027-01-01&end=2026-01-01`, 400, 'start must not be after end'],
    ['dataset=trades&market_id=nope', 404, 'Market not found'],
  ])('%s', async (query, status, detail) => {
    const { statusCode, body } = await ask(query);
    expect([statusCode, JSON.parse(body)]).toEqual([status, { detail }]);
  });
});
