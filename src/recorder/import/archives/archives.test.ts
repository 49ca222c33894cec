import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { MemorySink } from '../../../../test/support/memorySink.ts';
import { temporaryDirectory } from '../../../../test/support/temporaryDirectory.ts';
import { InvalidInputError } from '../../../runtime/errors.ts';
import { silentLogger } from '../../../runtime/log.ts';
import { Metrics } from '../../../runtime/metrics.ts';
import { Recorder } from '../../recorder.ts';
import { FrameRouter } from '../frameRouter.ts';
import { ArchiveReportBuilder } from './archiveReport.ts';
import { importArchive, openArchive } from './importArchive.ts';

const T0 = Date.UTC(2026, 3, 14, 8);
const US = (offsetMs: number) => String((T0 + offsetMs) * 1000);
const MARKET = `0x${'ab'.repeat(32)}`;
const OTHER = `0x${'cd'.repeat(32)}`;
const SHARE = 1_000_000;

function file(name: string, content: string | Uint8Array): string {
  const target = path.join(temporaryDirectory(), name);
  writeFileSync(target, content);
  return target;
}

async function importAll(files: readonly string[], markets: ReadonlySet<string> | null = null) {
  const sink = new MemorySink();
  const common = { clock: new FakeClock(T0), log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink, timeBy: 'receipt', isProvenByHashOnly: true });
  const router = new FrameRouter({ recorder, log: silentLogger });
  const report = new ArchiveReportBuilder();
  for (const one of files) {
    const reader = await openArchive(one, { markets });
    if (reader === null) throw new Error(`${one} is no archive`);
    await importArchive(one, reader, { router, report });
  }
  router.finish();
  recorder.close();
  return { sink, report: report.report()! };
}

const HEAD = 'exchange,symbol,timestamp,local_timestamp,is_snapshot,side,price,amount';
const row = (offsetMs: number, rest: string, symbol = 'bybit,BTCUSDT') =>
  `${symbol},${US(offsetMs)},${US(offsetMs + 5)},${rest}`;

it.each([
  [59_999, 0],
  [60_000, 1],
])('%d ms without a row are %d holes', (ms, holes) => {
  const report = new ArchiveReportBuilder();
  report.file('any', []);
  report.seen('bybit BTC', T0);
  report.seen('bybit BTC', T0 + ms);
  expect(report.report()).toMatchObject({ rows: 2, holes });
});

describe('Tardis incremental_book_L2', () => {
  const lines = [
    HEAD,
    row(0, 'false,bid,96000,9'),
    row(100, 'true,bid,97000.1,1.5'),
    row(100, 'true,ask,97000.2,2'),
    row(100, 'true,bid,96999,4'),
    row(300, 'false,bid,97000.1,0'),
    row(300, 'false,ask,97000.3,0.25'),
    'bybit,BTCUSDT,broken',
    row(400, 'false,middle,1,1'),
    row(400, 'false,bid,not a price,1'),
    row(500, 'true,bid,90000,1'),
    row(500, 'true,ask,90001,1'),
  ];
  const text = `${lines.join('\n')}\n`;

  it('becomes one book a message; a later snapshot replaces the book', async () => {
    const { sink } = await importAll([file('book.csv', text)]);
    expect(sink.depths.map(({ eventTimeMs, bids, asks }) => [eventTimeMs - T0, bids, asks])).toEqual([
      [
        100,
        [
          ['97000.1', '1.5'],
          ['96999', '4'],
        ],
        [['97000.2', '2']],
      ],
      [
        300,
        [['96999', '4']],
        [
          ['97000.2', '2'],
          ['97000.3', '0.25'],
        ],
      ],
      [500, [['90000', '1']], [['90001', '1']]],
    ]);
    const [first] = sink.depths;
    expect(first).toMatchObject({
      ...{ venue: 'bybit', ticker: 'BTC', receivedTimeMs: T0 + 105, updateId: Number(US(105)) },
      ...{ engineTimeMs: null, roundTripMs: null },
    });
  });

  it('counts and names bad rows, and says what it left out', async () => {
    const target = file('book.csv', text);
    const { report } = await importAll([target]);
    expect(report.layouts).toEqual({ 'Tardis incremental_book_L2': 1 });
    expect(report.bad_rows).toBe(3);
    expect(report.bad).toEqual([
      { file: target, row: 8, reason: 'another number of cells than the head' },
      { file: target, row: 9, reason: 'side is neither bid nor ask' },
      { file: target, row: 10, reason: 'price is no decimal' },
    ]);
    expect(report.unused).toEqual({ 'before the first snapshot': 1 });
    expect(report.lacks).toContain('engine time');
  });

  it.each([
    ['gzip', 'book.csv.gz', gzipSync(text)],
    ['zstd', 'book.csv.zst', zstdCompressSync(text)],
  ])('is the same in %s', async (_name, name, bytes) => {
    const plain = await importAll([file('book.csv', text)]);
    expect((await importAll([file(name, bytes)])).sink.depths).toEqual(plain.sink.depths);
  });

  it('counts OKX contracts as coins, and leaves other instruments out', async () => {
    const okx = [
      HEAD,
      row(0, 'true,bid,97000,12', 'okex-swap,BTC-USDT-SWAP'),
      row(0, 'true,bid,1,1', 'ftx,BTC-PERP'),
    ];
    const { sink, report } = await importAll([file('okx.csv', okx.join('\n'))]);
    expect(sink.depths.map(({ venue, bids }) => [venue, bids])).toEqual([['okx', [['97000', '0.12']]]]);
    expect(report.unused).toEqual({ 'ftx BTC-PERP': 1 });
  });

  it('reports holes by receive time, the longest first', async () => {
    const at = [0, 1000, 62_000, 63_000, 400_000].map((ms) => row(ms, 'true,bid,97000,1'));
    const { report } = await importAll([
      file('holes.csv', [HEAD, ...at, row(399_000, 'true,bid,1,1')].join('\n')),
    ]);
    expect([report.holes, report.out_of_order]).toEqual([2, 1]);
    expect(report.longest_holes).toEqual([
      {
        ...{ subject: 'bybit BTC', seconds: 337 },
        ...{ start: '2026-04-14T08:01:03.005+00:00', end: '2026-04-14T08:06:40.005+00:00' },
      },
      {
        ...{ subject: 'bybit BTC', seconds: 61 },
        ...{ start: '2026-04-14T08:00:01.005+00:00', end: '2026-04-14T08:01:02.005+00:00' },
      },
    ]);
  });
});

it('Tardis book snapshots are whole books; absent levels are empty cells', async () => {
  const head =
    'exchange,symbol,timestamp,local_timestamp,asks[0].price,asks[0].amount,bids[0].price,bids[0].amount,asks[1].price,asks[1].amount,bids[1].price,bids[1].amount';
  const line = `binance-futures,ETHUSDT,${US(0)},${US(3)},3000.5,1,3000,2,3001,4,,`;
  const { sink } = await importAll([file('book_snapshot_5.csv', `${head}\n${line}\n`)]);
  expect(sink.depths.map(({ venue, ticker, bids, asks }) => ({ venue, ticker, bids, asks }))).toEqual([
    {
      venue: 'binance',
      ticker: 'ETH',
      bids: [['3000', '2']],
      asks: [
        ['3000.5', '1'],
        ['3001', '4'],
      ],
    },
  ]);
});

it('Tardis trades of spot venues are prices; trades of perpetuals are counted', async () => {
  const head = 'exchange,symbol,timestamp,local_timestamp,id,side,price,amount';
  const trade = (symbol: string, price: string) => `${symbol},${US(0)},${US(20)},1,buy,${price},0.1`;
  const lines = [
    trade('binance,BTCUSDT', '97000.5'),
    trade('coinbase,ETH-USD', '3000'),
    trade('bybit,BTCUSDT', '1'),
  ];
  const { sink, report } = await importAll([file('trades.csv', [head, ...lines].join('\n'))]);
  expect(sink.underlyings.map(({ source, ticker, price }) => [source, ticker, price])).toEqual([
    ['binance_spot', 'BTC', 97000.5],
    ['coinbase_spot', 'ETH', 3000],
  ]);
  expect(report.unused).toEqual({ 'trades of perpetuals': 1 });
  expect(report.lacks).toEqual([]);
});

/** A Parquet file with columns of these values. */
function parquet(columns: Readonly<Record<string, readonly unknown[]>>): string {
  const columnData = Object.entries(columns).map(([name, data]) => ({ name, data: [...data] }));
  return file(
    'polymarket_orderbook_2026-04-14T08.parquet',
    new Uint8Array(parquetWriteBuffer({ columnData })),
  );
}
const received = (offsetMs: number) => new Date(T0 + offsetMs);

describe('PMXT v1', () => {
  const book = (token: string, side: string, market = MARKET) => ({
    ...{ update_type: 'book_snapshot', market_id: market, token_id: token, side },
    ...{ best_bid: '0.4', best_ask: '0.5', timestamp: (T0 + 10) / 1000 },
    bids: [
      ['0.3', '5'],
      ['0.4', '2.5'],
    ],
    asks: [
      ['0.6', '1'],
      ['0.5', '7'],
    ],
  });
  const change = {
    ...{
      update_type: 'price_change',
      market_id: MARKET,
      token_id: '22',
      side: 'YES',
      timestamp: (T0 + 1500) / 1000,
    },
    ...{ best_bid: '0.45', best_ask: '0.5', change_price: '0.45', change_size: '42.6', change_side: 'BUY' },
  };
  const rows = [
    book('11', 'NO'),
    book('22', 'YES'),
    change,
    { update_type: 'nonsense', side: 'YES', timestamp: 1 },
  ];
  const target = (written: readonly { update_type: string }[] = rows) =>
    parquet({
      timestamp_received: written.map((_, at) => received(100 + at * 1000)),
      timestamp_created_at: written.map((_, at) => received(90 + at * 1000)),
      market_id: written.map(() => MARKET),
      update_type: written.map(({ update_type }) => update_type),
      data: written.map((data, at) =>
        at === 3 ? '{"side":"YES","token_id":"22","timestamp":1}' : JSON.stringify(data),
      ),
    });

  it('is recorded as NO when it has only rows of NO', async () => {
    const { sink } = await importAll([target([book('11', 'NO')])]);
    expect(sink.markets.at(-1)).toMatchObject({ yesTokenId: 'unknown', noTokenId: '11' });
    expect(sink.books.at(-1)).toMatchObject({
      yes: { bids: [], asks: [] },
      no: {
        bids: [
          [4_000, 2_500_000],
          [3_000, 5_000_000],
        ],
        asks: [
          [5_000, 7_000_000],
          [6_000, 1_000_000],
        ],
      },
    });
  });

  it('is recorded with the outcome that it names, never trusted, and without what it lacks', async () => {
    const { sink, report } = await importAll([target()]);
    const market = sink.markets.at(-1);
    expect([market?.yesTokenId, market?.noTokenId, market?.slug, market?.strikePrice]).toEqual([
      '22',
      '11',
      'unknown',
      null,
    ]);
    const last = sink.books.at(-1);
    expect(last?.yes.bids).toEqual([
      [4500, 42.6 * SHARE],
      [4000, 2.5 * SHARE],
      [3000, 5 * SHARE],
    ]);
    expect(last?.eventTimeMs).toBe(T0 + 1500);
    expect(sink.books.map(({ trusted }) => trusted)).not.toContain(true);
    expect(sink.books.length).toBeGreaterThan(1);
    expect(report.bad.map(({ row: at, reason }) => [at, reason])).toEqual([[4, 'update_type nonsense']]);
    expect(report.lacks).toEqual(expect.arrayContaining(['hash of each book', 'trades']));
  });

  it('leaves out other markets on request', async () => {
    const { sink, report } = await importAll([target()], new Set([OTHER]));
    expect(sink.books).toEqual([]);
    expect(report.unused).toEqual({ 'other markets': 4 });
  });
});

it('PMXT v2 has books, changes, trades and steps in typed columns', async () => {
  const types = ['book', 'book', 'price_change', 'last_trade_price', 'tick_size_change', 'book'];
  const levels = '[["0.30","5"],["0.40","2.5"]]';
  const target = parquet({
    timestamp_received: types.map((_, at) => received(100 + at * 1000)),
    timestamp: types.map((_, at) => received(90 + at * 1000)),
    market: types.map(() => MARKET),
    event_type: types,
    asset_id: ['22', '11', '22', '22', '22', '22'],
    bids: [levels, levels, null, null, null, 'no JSON'],
    asks: ['[["0.60","1"]]', '[["0.60","1"]]', null, null, null, '[]'],
    price: [null, null, 0.45, 0.47, null, null],
    size: [null, null, 42.6, 3, null, null],
    side: ['', '', 'BUY', 'SELL', '', ''],
    transaction_hash: [null, null, null, '0xfeed', null, null],
    new_tick_size: [null, null, null, null, 0.001, null],
  });
  const { sink, report } = await importAll([target]);
  expect(sink.trades.map(({ side, price, size }) => [side, price, size])).toEqual([
    ['SELL_YES', 4700, 3 * SHARE],
  ]);
  expect(sink.books.at(-1)?.yes.bids[0]).toEqual([4500, 42.6 * SHARE]);
  expect(sink.markets.at(-1)?.tickSize).toBe(10);
  expect(sink.books.map(({ trusted }) => trusted)).not.toContain(true);
  expect(report.bad.map(({ row: at, reason }) => [at, reason])).toEqual([[6, 'bids is no JSON']]);
});

it('files of other columns are no archives', async () => {
  await expect(importAll([file('prices.csv', 'a,b\n1,2\n')])).rejects.toThrow('is no archive');
  await expect(importAll([parquet({ a: [1] })])).rejects.toThrow('is no archive');
});

it.each([
  ['empty', (_: Buffer) => Buffer.alloc(0), 'cannot read '],
  ['cut', (whole: Buffer) => whole.subarray(0, -9), 'footer'],
])('names a Parquet file that is %s', async (_, change, reason) => {
  const target = parquet({ a: [1] });
  writeFileSync(target, change(readFileSync(target)));
  const refused = await openArchive(target, { markets: null }).catch((error) => error);
  expect(refused).toBeInstanceOf(InvalidInputError);
  expect(refused.message).toContain(`cannot read ${target}: no Parquet file, or a damaged one: `);
  expect(refused.message).toContain(reason);
});
