import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inflateRawSync, zstdDecompressSync } from 'node:zlib';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bookRecord, marketRecord } from '../../../../test/support/api.ts';
import { oneClock } from '../../../../test/support/gaps.ts';
import { openTestStore, type TestStore } from '../../../../test/support/store.ts';
import { temporaryDirectory } from '../../../../test/support/temporaryDirectory.ts';
import { exportSources } from '../../queries/exports.ts';
import { openExport } from '../openExport.ts';
import { FILE_LIST } from './engineFile.ts';
import { type EngineName, writeEngineFolder } from './engineFolder.ts';

const T0 = Date.UTC(2026, 10, 20, 12);
const M = `0x${'a'.repeat(64)}`;
const NEVER = new AbortController().signal;
const WHOLE = { startMs: null, endMs: null };
const SHARE = 1_000_000;

let opened: TestStore;
beforeAll(async () => {
  opened = await openTestStore();
  const { writer } = opened.store;
  const terms = { strikePrice: 97_000, takerFeeRate: 0.07, outcome: 'Up', payoutYes: 1 } as const;
  writer.market({ ...marketRecord({ marketId: M, slug: 'btc-updown-5m-1', ...terms }), seq: 1 });
  const book = (
    seq: number,
    afterMs: number,
    bid: number,
    more: { trusted?: boolean; shares?: number } = {},
  ) => {
    const { trusted = true, shares = 1 } = more;
    const yesBids: [number, number][] = [
      [bid, shares * SHARE],
      [bid - 100, 2_500_000],
    ];
    const yesAsks: [number, number][] = [[bid + 100, 3 * SHARE]];
    writer.book(bookRecord({ seq, marketId: M, timeMs: T0 + afterMs, yesBids, yesAsks, trusted }));
  };
  book(10, 0, 5_000);
  book(11, 10, 5_000, { shares: 4 });
  book(12, 20, 5_100);
  // Received with the next book: it comes before it.
  writer.trade({
    ...{ seq: 14, marketId: M, eventTimeMs: T0 + 30, receivedTimeMs: T0 + 70, side: 'SELL_YES' },
    ...{ price: 5_100, size: 1_234_567, tradeId: `0x${'b'.repeat(64)}` },
  });
  book(13, 30, 5_200);
  book(15, 40, 5_300, { trusted: false });
  book(16, 50, 5_400);
  // A venue time before the one of the row that arrived earlier.
  writer.trade({
    ...{ seq: 17, marketId: M, eventTimeMs: T0 + 45, receivedTimeMs: T0 + 95, side: 'BUY_NO' },
    ...{ price: 4_600, size: 2 * SHARE, tradeId: 'short' },
  });
  book(18, 60, 5_500);
  // Found later: the row at 60 ms is inside.
  writer.gap(
    oneClock({
      ...{ seq: 100, gapId: 'gap_1', marketId: M, startTimeMs: T0 + 50, endTimeMs: T0 + 70 },
      ...{
        cause: 'disconnected',
        feed: 'polymarket.clob',
        repairedBy: null,
        knownTimeMs: T0 + 90,
        knownSeq: 99,
      },
    }),
  );
  book(19, 70, 5_600);
  await writer.flush();
});
afterAll(() => opened?.dispose());

async function written(engine: EngineName, out = `${temporaryDirectory()}/`) {
  const lines: string[] = [];
  const asked = { engine, markets: { marketIds: [M] }, range: WHOLE, upToSeq: 1_000_000, out, signal: NEVER };
  const result = await writeEngineFolder(opened.store, { ...asked, onFile: (line) => lines.push(line) });
  const all = readdirSync(out, { recursive: true, encoding: 'utf8' });
  return { out, result, lines, paths: all.filter((path) => /\.(npz|parquet)$/.test(path)).sort() };
}

/** The member `data.npy` of a ZIP archive, by its directory. */
function npyOf(file: Buffer): Buffer {
  const end = file.length - 22;
  expect(file.readUInt32LE(end)).toBe(0x06054b50);
  const entry = file.readUInt32LE(end + 16);
  expect([file.readUInt32LE(entry), file.toString('latin1', entry + 46, entry + 54)]).toEqual([
    0x02014b50,
    'data.npy',
  ]);
  const packed = file.subarray(38, 38 + file.readUInt32LE(entry + 20));
  const plain = inflateRawSync(packed);
  expect(plain.length).toBe(file.readUInt32LE(entry + 24));
  return plain;
}

function eventsOf(file: Buffer) {
  const npy = npyOf(file);
  expect(npy.toString('latin1', 0, 8)).toBe('\x93NUMPY\x01\x00');
  const start = 10 + npy.readUInt16LE(8);
  expect(start % 64).toBe(0);
  const header = npy.toString('latin1', 10, start);
  const rows = (npy.length - start) / 64;
  expect(header.trim()).toBe(
    `{'descr': [('ev', '<u8'), ('exch_ts', '<i8'), ('local_ts', '<i8'), ('px', '<f8'), ('qty', '<f8'), ('order_id', '<u8'), ('ival', '<i8'), ('fval', '<f8')], 'fortran_order': False, 'shape': (${rows},), }`,
  );
  return Array.from({ length: rows }, (_, row) => {
    const at = start + row * 64;
    const after = (nanos: bigint) => Number(nanos / 1_000_000n) - T0;
    return {
      ev: npy.readBigUInt64LE(at),
      exchange: after(npy.readBigInt64LE(at + 8)),
      local: after(npy.readBigInt64LE(at + 16)),
      ...{ px: npy.readDoubleLE(at + 24), qty: npy.readDoubleLE(at + 32) },
      rest: [npy.readBigUInt64LE(at + 40), npy.readBigInt64LE(at + 48), npy.readDoubleLE(at + 56)],
    };
  });
}

const KINDS = ['', 'depth', 'trade', 'clear', 'snapshot'];
const shown = ({ ev, exchange, local, px, qty }: ReturnType<typeof eventsOf>[number]) => {
  expect(ev >> 30n).toBe(3n);
  const side = (ev & (1n << 29n)) === 0n ? 'sell' : 'buy';
  return `${KINDS[Number(ev & 0xffn)]} ${side} ${px} ${qty} ${exchange}/${local}`;
};

/** Each side of a book after the events, as in the exported books. */
class Depth {
  readonly sides = { buy: new Map<number, number>(), sell: new Map<number, number>() };

  set(side: 'buy' | 'sell', price: number, size: number): void {
    if (size === 0) this.sides[side].delete(price);
    else this.sides[side].set(price, size);
  }

  levels(side: 'buy' | 'sell') {
    const best = side === 'buy' ? -1 : 1;
    const found = [...this.sides[side]].sort(([a], [b]) => (a - b) * best);
    return found.map(([price, size]) => ({ price, size }));
  }
}

/** The trusted books at each receive time; an untrusted one is empty. */
async function recordedBooks() {
  const subject = { dataset: 'snapshots', markets: { marketIds: [M] } } as const;
  const sources = await exportSources(opened.store, subject, { range: WHOLE, signal: NEVER });
  const lines = await text(
    openExport(opened.store, sources, { dataset: 'snapshots', format: 'jsonl', signal: NEVER }),
  );
  const rows = lines.split('\n').slice(0, -1);
  return rows.map((line) => {
    const { received_at: at, trusted, ...book } = JSON.parse(line);
    return { afterMs: Date.parse(at) - T0, book: trusted ? book : null };
  });
}

describe('hftbacktest', () => {
  test('has an array of events for each token: snapshots after a clear, removals first, trades first', async () => {
    const { out, paths, result } = await written('hftbacktest');
    const folder = 'series=BTC-5m/date=2026-11-20/btc-updown-5m-1';
    expect(paths).toEqual([`${folder}-no.npz`, `${folder}-yes.npz`]);
    expect(result).toEqual({ files: 2, kept: 0 });
    const events = eventsOf(readFileSync(join(out, paths[1] as string)));
    expect(events.every(({ rest }) => rest.every((value) => Number(value) === 0))).toBe(true);
    expect(events.map(shown)).toMatchInlineSnapshot(`
      [
        "clear buy 0 0 0/40",
        "clear sell 1 0 0/40",
        "snapshot buy 0.5 1 0/40",
        "snapshot buy 0.49 2.5 0/40",
        "snapshot sell 0.51 3 0/40",
        "depth buy 0.5 4 10/50",
        "depth buy 0.49 0 20/60",
        "depth sell 0.51 0 20/60",
        "depth buy 0.51 1 20/60",
        "depth buy 0.5 2.5 20/60",
        "depth sell 0.52 3 20/60",
        "trade sell 0.51 1.234567 30/70",
        "depth buy 0.5 0 30/70",
        "depth sell 0.52 0 30/70",
        "depth buy 0.52 1 30/70",
        "depth buy 0.51 2.5 30/70",
        "depth sell 0.53 3 30/70",
        "clear buy 0 0 40/80",
        "clear sell 1 0 40/80",
        "clear buy 0 0 50/90",
        "clear sell 1 0 50/90",
        "snapshot buy 0.54 1 50/90",
        "snapshot buy 0.53 2.5 50/90",
        "snapshot sell 0.55 3 50/90",
        "clear buy 0 0 60/100",
        "clear sell 1 0 60/100",
        "clear buy 0 0 70/110",
        "clear sell 1 0 70/110",
        "snapshot buy 0.56 1 70/110",
        "snapshot buy 0.55 2.5 70/110",
        "snapshot sell 0.57 3 70/110",
      ]
    `);
    const no = eventsOf(readFileSync(join(out, paths[0] as string))).map(shown);
    expect(no.filter((line) => line.startsWith('trade'))).toEqual(['trade buy 0.46 2 50/95']);
  });

  test.each(['yes', 'no'] as const)('the events of %s give the recorded books', async (token) => {
    const { out, paths } = await written('hftbacktest');
    const events = eventsOf(readFileSync(join(out, paths[token === 'no' ? 0 : 1] as string)));
    const depth = new Depth();
    let at = 0;
    for (const { afterMs, book } of await recordedBooks()) {
      for (; events[at] !== undefined && (events[at]?.local as number) <= afterMs; at++) {
        const { ev, px, qty } = events[at] as (typeof events)[number];
        const side = (ev & (1n << 29n)) === 0n ? 'sell' : 'buy';
        const kind = KINDS[Number(ev & 0xffn)];
        if (kind === 'clear') depth.sides[side].clear();
        else if (kind !== 'trade') depth.set(side, px, qty);
      }
      expect(depth.levels('buy'), `${afterMs}`).toEqual(book?.[`${token}_bids`] ?? []);
      expect(depth.levels('sell'), `${afterMs}`).toEqual(book?.[`${token}_asks`] ?? []);
    }
  });

  const python = spawnSync('python3', ['-c', 'import numpy']).status === 0;
  test.skipIf(!python)(
    `opens with numpy as its event type ${python ? '' : '(skipped: no numpy)'}`,
    async () => {
      const { out, paths } = await written('hftbacktest');
      const script = `
import sys, numpy as np
fields = [('ev','u8'),('exch_ts','i8'),('local_ts','i8'),('px','f8'),('qty','f8'),('order_id','u8'),('ival','i8'),('fval','f8')]
with np.load(sys.argv[1]) as file:
    data = file['data']
assert data.dtype == np.dtype(fields, align=True), data.dtype
for flag, name in ((1 << 31, 'exch_ts'), (1 << 30, 'local_ts')):
    assert (np.diff(data[name][data['ev'] & flag == flag]) >= 0).all()
assert (data['local_ts'] >= data['exch_ts']).all()
print(len(data), data['qty'].sum())`;
      const path = join(out, paths[1] as string);
      const events = eventsOf(readFileSync(path));
      const total = events.reduce((sum, { qty }) => sum + qty, 0);
      const [rows, sum] = execFileSync('python3', ['-c', script, path], { encoding: 'utf8' }).split(' ');
      expect([Number(rows), Number(sum)]).toEqual([events.length, expect.closeTo(total, 6)]);
    },
  );
});

async function parquetRows(path: string) {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  const compressors = { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) };
  const rows = await parquetReadObjects({ file, metadata, compressors, utf8: false });
  const types = metadata.schema
    .slice(1)
    .map(({ name, type, type_length: length, converted_type: converted }) =>
      [name, type, length, converted].filter((part) => part !== undefined).join(' '),
    );
  const pairs = (metadata.key_value_metadata ?? []).map(({ key, value }) => [key, value]);
  return { rows, types, pairs: Object.fromEntries(pairs) };
}

/** A 128-bit integer of 10^-16. */
function decimal(bytes: Uint8Array): number {
  expect(bytes).toHaveLength(16);
  const view = Buffer.from(bytes);
  expect(view.readBigUInt64LE(8)).toBeLessThan(1_000n);
  return Number((view.readBigUInt64LE(8) << 64n) + view.readBigUInt64LE(0)) / 1e16;
}

describe('NautilusTrader', () => {
  const YES = `${M}-11.POLYMARKET`;
  const FILE = '2026-11-20T12-00-00-040000000Z_2026-11-20T12-00-00-110000000Z.parquet';

  test('has the directories, schemas and metadata of its catalog', async () => {
    const { out, paths } = await written('nautilus');
    expect(paths).toContain(`data/order_book_deltas/${YES}/${FILE}`);
    expect(paths.map((path) => path.split('/')[1])).toEqual([
      ...['binary_option', 'binary_option', 'order_book_deltas', 'order_book_deltas'],
      ...['trade_tick', 'trade_tick'],
    ]);
    const deltas = await parquetRows(join(out, `data/order_book_deltas/${YES}/${FILE}`));
    expect(deltas.types).toEqual([
      ...['action INT32 UINT_8', 'side INT32 UINT_8', 'price FIXED_LEN_BYTE_ARRAY 16'],
      ...['size FIXED_LEN_BYTE_ARRAY 16', 'order_id INT64 UINT_64', 'flags INT32 UINT_8'],
      ...['sequence INT64 UINT_64', 'ts_event INT64 UINT_64', 'ts_init INT64 UINT_64'],
    ]);
    expect(deltas.pairs).toEqual({ instrument_id: YES, price_precision: '4', size_precision: '6' });
    const shownDeltas = deltas.rows.map((row) => {
      const [price, size] = [decimal(row.price), decimal(row.size)];
      return [
        row.action,
        row.side,
        price,
        size,
        row.flags,
        row.sequence,
        Number(row.ts_init / 1_000_000n) - T0,
      ].join(' ');
    });
    expect(shownDeltas).toMatchInlineSnapshot(`
      [
        "4 0 0 0 32 10 40",
        "1 1 0.5 1 32 10 40",
        "1 1 0.49 2.5 32 10 40",
        "1 2 0.51 3 160 10 40",
        "2 1 0.5 4 128 11 50",
        "3 1 0.49 0 0 12 60",
        "3 2 0.51 0 0 12 60",
        "1 1 0.51 1 0 12 60",
        "2 1 0.5 2.5 0 12 60",
        "1 2 0.52 3 128 12 60",
        "3 1 0.5 0 0 13 70",
        "3 2 0.52 0 0 13 70",
        "1 1 0.52 1 0 13 70",
        "2 1 0.51 2.5 0 13 70",
        "1 2 0.53 3 128 13 70",
        "4 0 0 0 160 15 80",
        "4 0 0 0 32 16 90",
        "1 1 0.54 1 32 16 90",
        "1 1 0.53 2.5 32 16 90",
        "1 2 0.55 3 160 16 90",
        "4 0 0 0 160 18 100",
        "4 0 0 0 32 19 110",
        "1 1 0.56 1 32 19 110",
        "1 1 0.55 2.5 32 19 110",
        "1 2 0.57 3 160 19 110",
      ]
    `);
    const trades = await parquetRows(
      join(out, paths.find((path) => path.includes(`trade_tick/${YES}`)) as string),
    );
    expect(trades.types).toEqual([
      ...['price FIXED_LEN_BYTE_ARRAY 16', 'size FIXED_LEN_BYTE_ARRAY 16', 'aggressor_side INT32 UINT_8'],
      ...['trade_id BYTE_ARRAY UTF8', 'ts_event INT64 UINT_64', 'ts_init INT64 UINT_64'],
    ]);
    const [trade] = trades.rows;
    expect([decimal(trade?.price), decimal(trade?.size), trade?.aggressor_side]).toEqual([0.51, 1.234567, 2]);
    expect(Buffer.from(trade?.trade_id).toString()).toBe('b'.repeat(36));
  });

  test('has an instrument for each token, with the venue’s fee rule and the payout in `info`', async () => {
    const { out, paths } = await written('nautilus');
    const path = paths.find((name) => name.includes(`binary_option/${YES}`)) as string;
    expect(path.endsWith('/2026-11-20T12-00-00-000000000Z_2026-11-20T12-00-00-000000000Z.parquet')).toBe(
      true,
    );
    const { rows, pairs } = await parquetRows(join(out, path));
    const [row = {}] = rows;
    const texts = Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        value instanceof Uint8Array ? Buffer.from(value).toString() : value,
      ]),
    );
    expect(pairs).toEqual({ class: 'BinaryOption' });
    const { info, ...columns } = texts;
    expect(columns).toEqual({
      ...{ id: YES, raw_symbol: '11', asset_class: 'ALTERNATIVE', currency: 'USDC' },
      ...{ price_precision: 4, size_precision: 6, price_increment: '0.0100', size_increment: '0.000001' },
      ...{ activation_ns: BigInt(T0) * 1_000_000n, expiration_ns: BigInt(T0 + 300_000) * 1_000_000n },
      ...{ maker_fee: '0', taker_fee: '0', max_quantity: null, min_quantity: null },
      ...{ outcome: 'Up', description: 'Bitcoin Up or Down?' },
      ...{ ts_event: BigInt(T0) * 1_000_000n, ts_init: BigInt(T0) * 1_000_000n },
    });
    expect(JSON.parse(info)).toMatchObject({ market_id: M, payout: 1, taker_fee_rate: 0.07 });
  });
});

describe('a folder', () => {
  test('continues: whole files are kept, a damaged one is written again, and a grown market replaces its files', async () => {
    const first = await written('nautilus');
    const path = first.paths.find((name) => name.includes('order_book_deltas')) as string;
    const bytes = readFileSync(join(first.out, path));
    appendFileSync(join(first.out, path), 'x');
    appendFileSync(join(first.out, FILE_LIST), '{"path":"cut');
    const second = await written('nautilus', first.out);
    expect(second.result).toEqual({ files: 6, kept: 3 });
    expect(readFileSync(join(first.out, path)).equals(bytes)).toBe(true);
    expect((await written('nautilus', first.out)).result).toEqual({ files: 6, kept: 6 });
    const late = { seq: 200, marketId: M, timeMs: T0 + 500, yesBids: [[5_000, SHARE]], yesAsks: [] } as const;
    opened.store.writer.book(bookRecord(late));
    await opened.store.writer.flush();
    const grown = await written('nautilus', first.out);
    expect(grown.result).toEqual({ files: 6, kept: 0 });
    expect(existsSync(join(first.out, path))).toBe(false);
    expect(grown.paths).toHaveLength(6);
    // After a new record of the market, its instruments and the description of every file change.
    const down = { marketId: M, slug: 'btc-updown-5m-1', outcome: 'Down', payoutYes: 0 } as const;
    opened.store.writer.market({ ...marketRecord(down), seq: 300 });
    await opened.store.writer.flush();
    expect((await written('nautilus', first.out)).result).toEqual({ files: 6, kept: 0 });
  });
});
