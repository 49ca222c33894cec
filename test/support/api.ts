import type { FastifyInstance } from 'fastify';
import type { AuthFailure, Identity } from '../../src/accounts/keys/authenticate.ts';
import { DEFAULT_TIERS } from '../../src/accounts/users/tiers.ts';
import type { ApiDependencies, LiveState } from '../../src/api/createApi.ts';
import { createApi } from '../../src/api/createApi.ts';
import type { FollowedMarkets } from '../../src/recorder/marketMemory.ts';
import { silentLogger } from '../../src/runtime/log.ts';
import { Metrics } from '../../src/runtime/metrics.ts';
import { DEFAULT_TICKERS, type Market, NO_SETTLEMENT } from '../../src/schema/market.ts';
import type { BookRecord, SideView } from '../../src/schema/records.ts';
import { checkAnswers } from './describedAnswers.ts';
import { FakeClock } from './fakeClock.ts';
import { stubBacktests } from './stubBacktests.ts';
import { stubPaper } from './stubPaper.ts';

export const KEY = { authorization: 'Bearer good' };
export const IDENTITY: Identity = {
  keyId: 'key_1',
  userId: 'usr_1',
  email: 'a@example.com',
  tier: 'premium',
};
export const REFUSED: AuthFailure = { reason: 'unknown', detail: 'Unknown API key' };

/** A recorder that follows no market. */
export const nothingFollowed: FollowedMarkets = {
  markets: () => [],
  market: () => null,
  book: () => null,
  mayLackBooks: () => false,
  knownToMs: Number.POSITIVE_INFINITY,
  gaps: () => [],
};

/** A ready service that has not received any data. */
export const idleLive: LiveState = {
  latestSnapshotTimeMs: null,
  snapshotsLast5Min: () => 0,
  ready: () => ({ ok: true, reasons: [], degraded: [] }),
  storeLagMs: () => 0,
  followed: nothingFollowed,
};

/** For tests that must not get as far as the store. */
export const unaskedStore: ApiDependencies['store'] = {
  rows: () => Promise.reject(new Error('the store was asked')),
  stream: () => Promise.reject(new Error('the store was asked')),
};

/** A component that fails when more than `known` of it is used, for tests that must not reach it. */
function unasked<T extends object>(part: string, known: Partial<T> = {}): T {
  return new Proxy(known as T, {
    get: (_, name) => {
      if (name in known) return Reflect.get(known, name);
      throw new Error(`${part}.${String(name)} was asked`);
    },
  });
}

/** Nothing was ever detected. */
export const silentSignals: ApiDependencies['signals'] = {
  board: {
    read: () => ({ asOfMs: Date.UTC(2026, 10, 20, 12), opportunities: [] }),
    outlook: () => null,
  },
  audit: {
    sums: async () => [],
    list: async () => [],
    oldest: async () => [],
    head: async () => ({ seq: 0, hash: '0'.repeat(64) }),
  },
};

/** The API on a given store, with one good key; `inject` fails on answers that are not as described. */
export function testApi(parts: Pick<ApiDependencies, 'store'> & Partial<ApiDependencies>): FastifyInstance {
  return checkAnswers(uncheckedApi(parts));
}

/** The same without a look at its answers, for many requests in little time. */
export function uncheckedApi(
  parts: Pick<ApiDependencies, 'store'> & Partial<ApiDependencies>,
): FastifyInstance {
  return createApi({
    accounts: {
      moment: () => 0,
      maintenance: () => null,
      authenticate: (header) => (header === KEY.authorization ? IDENTITY : REFUSED),
      signedIn: async () => null,
    },
    control: unasked<ApiDependencies['control']>('control', { kept: async () => undefined }),
    secondFactors: unasked<ApiDependencies['secondFactors']>('secondFactors'),
    backtests: stubBacktests,
    paper: stubPaper,
    webhooks: unasked<ApiDependencies['webhooks']>('webhooks'),
    tiers: DEFAULT_TIERS,
    rateLimits: null,
    live: idleLive,
    streams: null,
    signals: silentSignals,
    clock: new FakeClock(),
    log: silentLogger,
    metrics: new Metrics(),
    tickers: DEFAULT_TICKERS,
    dataSource: 'live',
    ...parts,
  });
}

/** Levels as [price in ticks, size in 1/1,000,000 share], best first. */
export type LevelPairs = readonly (readonly [number, number])[];

function side(levels: LevelPairs): SideView {
  return {
    count: levels.length,
    prices: Uint16Array.from(levels.map(([price]) => price)),
    sizes: Float64Array.from(levels.map(([, size]) => size)),
  };
}

export interface TestBook {
  seq: number;
  marketId: string;
  timeMs: number;
  yesBids: LevelPairs;
  yesAsks: LevelPairs;
  /** If absent, NO is the mirror of YES. */
  no?: { bids: LevelPairs; asks: LevelPairs };
  trusted?: boolean;
  underlyingPrice?: number | null;
}

export function bookRecord(book: TestBook): BookRecord {
  const mirror = (levels: LevelPairs): LevelPairs => levels.map(([price, size]) => [10_000 - price, size]);
  const no = book.no ?? { bids: mirror(book.yesAsks), asks: mirror(book.yesBids) };
  return {
    seq: book.seq,
    marketId: book.marketId,
    eventTimeMs: book.timeMs,
    receivedTimeMs: book.timeMs + 40,
    yes: { bids: side(book.yesBids), asks: side(book.yesAsks) },
    no: { bids: side(no.bids), asks: side(no.asks) },
    mirrored: book.no === undefined,
    trusted: book.trusted ?? true,
    underlyingPrice: book.underlyingPrice ?? null,
  };
}

export function marketRecord(market: Partial<Market> & Pick<Market, 'marketId'>): Market {
  return {
    eventId: '1',
    slug: 'btc-updown-5m-1',
    question: 'Bitcoin Up or Down?',
    eventType: '5m',
    ticker: 'BTC',
    yesTokenId: '11',
    noTokenId: '12',
    status: 'open',
    startTimeMs: Date.UTC(2026, 10, 20, 12),
    endTimeMs: Date.UTC(2026, 10, 20, 12, 5),
    strikePrice: null,
    strikeSource: null,
    closePrice: null,
    outcome: null,
    payoutYes: null,
    resolvedTimeMs: null,
    volume: null,
    liquidity: null,
    tickSize: 100,
    takerFeeRate: null,
    takerFeeExponent: null,
    takerDelayMs: null,
    recordedSinceMs: 1,
    ...NO_SETTLEMENT,
    ...market,
  };
}
