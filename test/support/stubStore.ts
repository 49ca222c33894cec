import { Readable } from 'node:stream';
import type { StoreReader } from '../../src/store/reader.ts';
import { nativeBooks } from './nativeBooks.ts';
import { MARKET as WIRE_MARKET } from './wire.ts';

/** The only market of the stub. */
export const STUB_MARKET = '0xaa';

const TS = '2026-11-20T12:00:00.000+00:00';
const START_MS = Date.parse(TS);
const SEQ = 1;
/** One book: one YES bid of 1 share at 0.5, mirrored. */
const bookWith = (extra: readonly number[]) =>
  nativeBooks(
    [
      {
        ...{ timeMs: Date.parse(TS), trusted: true, mirrored: true, underlying: 97_000.12, wide: false },
        sides: [[[5000, 1]], [], [], []],
      },
    ],
    extra,
  );
/** The book as a short page, followed by its key, and as a page that was found first. */
const SHORT_BOOK = bookWith([SEQ, 0]);
const BOOK = bookWith([1, Date.parse(TS), SEQ, Date.parse(TS), SEQ, 0]);
const MARKET = {
  market_id: STUB_MARKET,
  event_id: '1',
  slug: 'btc-updown-5m-1795176000',
  question: 'Bitcoin Up or Down?',
  market_type: '5m',
  ticker: 'BTC',
  status: 'open',
  start_time: TS,
  end_time: '2026-11-20T12:05:00.000+00:00',
  strike_price: null,
  strike_source: null,
  close_price: null,
  outcome: null,
  payout_yes: null,
  coverage: 1,
  resolved_at: null,
  resolved_at_source: null,
  volume: null,
  liquidity: null,
  tick_size: 0.01,
  taker_fee_rate: 0.07,
  taker_delay_ms: null,
  polymarket_url: 'https://polymarket.com/event/btc-updown-5m-1795176000',
};
/** The record from which `MARKET` is made. */
const MARKET_RECORD = {
  ...WIRE_MARKET,
  ...{ marketId: STUB_MARKET, eventId: '1', slug: MARKET.slug, question: MARKET.question },
  ...{ startTimeMs: START_MS, endTimeMs: Date.parse(MARKET.end_time), recordedSinceMs: START_MS },
};
export const STUB_DEPTH = {
  timestamp: TS,
  update_id: 1,
  bids: [[97_000.1, 0.5]],
  asks: [],
  best_bid: 97_000.1,
  best_ask: null,
  n_bids: 1,
  n_asks: 0,
};
const GAP = {
  gap_id: 'gap_1',
  start: TS,
  end: null,
  cause: 'silent_feed',
  feed: 'polymarket.clob',
  start_received: '2026-11-20T12:00:00.040+00:00',
  end_received: null,
  repaired_by: null,
};
const key = [String(Date.parse(TS)), String(SEQ)];
/** First and last key of a page: one row, and no next page. */
export const STUB_PAGE = { found: 1, first: key, last: key, revision: '0' };

/** The stub's answers, each by a fragment that only its statement contains. */
const ROWS: readonly (readonly [mark: string, row: object])[] = [
  ['AS `gap_id`', { ...GAP, market_id: STUB_MARKET, known_time: null, known_seq: null, seq: 1 }],
  ['AS tsMs', { tsMs: Date.parse(TS), seq: SEQ }],
  ['AS version', { version: '26.7' }],
  [
    'AS startMs',
    { slug: MARKET.slug, markets: 1, startMs: Date.parse(TS), endMs: Date.parse(MARKET.end_time) },
  ],
  ['AS first, ', STUB_PAGE],
  ['min(seq) AS seq FROM markets', { seq: SEQ }],
  ['AS first_ms', { found: 1, first_ms: key[0], last_ms: key[0], revision: '0' }],
  ['AS yesTokenId', MARKET_RECORD],
  ['AS gapId', { gapId: 'gap_1', marketId: STUB_MARKET, startTimeMs: START_MS, endTimeMs: START_MS + 1 }],
  ['AS marketId', { marketId: STUB_MARKET, eventType: '5m', ticker: 'BTC' }],
  [
    'AS squaredError',
    { bucket: 0, count: 1, happened: 1, probability: 100, squaredError: 10_000, logLoss: 0.5 },
  ],
  ['AS gap_id', GAP],
  ['toString(count', { total: '1' }],
  ['toString(uniqExact', { total: '1' }],
  ['AS total', { total: 1 }],
];
const STREAMS: readonly (readonly [mark: string, row: object | Buffer])[] = [
  ['SHA256(', Buffer.alloc(32)],
  ['FROM gaps AS t FINAL', GAP],
  ['FROM markets AS t FINAL', MARKET],
  ['trade_count', { ts: TS, open: 0.5, high: 0.5, low: 0.5, close: 0.5, volume: 1, trade_count: 1 }],
  ['FROM perp_depth', STUB_DEPTH],
  ['[t.seq,', SHORT_BOOK],
  ['FROM books', BOOK],
  ['FROM quotes', { ts: TS, mid_yes: 0.5, spread_yes: null, underlying_price: 97_000.12 }],
  ['FROM trades', { ts: TS, side: 'BUY_YES', price: 0.5, size: 1, trade_id: 't1' }],
  ['FROM underlying', { ts: TS, price: 97_000.12 }],
];

/** A Parquet file without rows or columns. */
const NO_ROWS = Buffer.concat([
  Buffer.from('PAR1'),
  Buffer.of(0x36, 0x00, 0x19, 0x0c, 0x00),
  Buffer.of(5, 0, 0, 0),
  Buffer.from('PAR1'),
]);

/** A statement sent to the stub, with its parameters. */
export type Asked = readonly [query: string, params: object];

/**
 * A store without an engine in which every list has exactly one row; `asked` receives every statement. `page` defines
 * where the short pages of lists begin and end.
 */
export function stubStore({
  asked,
  page = STUB_PAGE,
  ...overrides
}: Partial<StoreReader> & { asked?: Asked[]; page?: typeof STUB_PAGE } = {}): StoreReader {
  return {
    rows: async <T>(query: string, params: Record<string, unknown> = {}) => {
      asked?.push([query, params]);
      const { market_id: marketId = params.marketId ?? STUB_MARKET } = params;
      const isOther = marketId !== STUB_MARKET;
      if (isOther && query.includes('FROM markets')) return [];
      return [find(ROWS, query)] as T[];
    },
    stream: async (query, params, { format }) => {
      asked?.push([query, params]);
      if (format === 'Parquet') return Readable.from([NO_ROWS]);
      const row = find<object | Buffer>(STREAMS, query);
      if (query.includes('AS page_key')) return Readable.from([Buffer.from(linesOf(row, page))]);
      return Readable.from([Buffer.isBuffer(row) ? row : Buffer.from(`${JSON.stringify([row])}\n`)]);
    },
    ...overrides,
  };
}

/** A short page: each row with its key. */
function linesOf(row: object, { found, first, last, revision }: typeof STUB_PAGE): string {
  const keys = Array.from({ length: found }, (_, index) => [...(index === 0 ? first : last), revision]);
  return keys.map((page_key) => `${JSON.stringify({ ...row, page_key })}\n`).join('');
}

function find<R extends object>(answers: readonly (readonly [string, R])[], query: string): R {
  const found = answers.find(([mark]) => query.includes(mark));
  if (!found) throw new Error(`the stub store has no answer to ${query}`);
  return found[1];
}
