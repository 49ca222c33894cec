/**
 * The venue's rules by date. Each row applies from a time until a later matching row, and names its evidence. If a day
 * is not known exactly, the table uses the date that costs a backtest more, and says so.
 */
import type { EventType, Ticker } from '../schema/market.ts';

/** The day the table was last checked against the venue's documents and recordings. */
export const TABLE_DATE = '2026-11-22';

export interface Row<T> {
  readonly fromMs: number;
  /** Omitted: all of them. */
  readonly eventTypes?: readonly EventType[];
  readonly tickers?: readonly Ticker[];
  readonly is: T;
  readonly evidence: string;
}

/**
 * Taker fee in USDC = shares x [price, where `base` is `cost`] x rate x (p(1-p))^exponent, rounded to `decimals` (half
 * up); below the last of them it is 0. Makers pay none.
 */
export interface FeeRule {
  readonly rate: number;
  readonly exponent: number;
  readonly base: 'share' | 'cost';
  readonly decimals: number;
  /** The venue's documents say rounded, one client's newer ones floored; no real fill has settled it yet. */
  readonly rounding: 'half_up' | 'down';
}

/** Tick sizes in ticks of 1/10000 USDC. */
export interface TickRule {
  readonly coarse: number;
  /** The tick size once a price has left [fineBelow, fineAbove]; null: no market was ever seen to change. */
  readonly fine: number | null;
  readonly fineBelow: number;
  readonly fineAbove: number;
}

/** The deciding prices at the two ends of a window, and the outcome of a tie. */
export type SettlementRule =
  /** The point of the second at each end. */
  | { readonly kind: 'chainlink_spot'; readonly tie: 'up' }
  /** The mean of the trailing `lookbackSeconds` at each end. */
  | { readonly kind: 'chainlink_twap'; readonly lookbackSeconds: number; readonly tie: 'up' }
  /** Open and close of the candle that is the window. */
  | { readonly kind: 'binance_hour'; readonly tie: 'up' }
  /** Close of the minute candle that begins at each end. */
  | { readonly kind: 'binance_minute'; readonly tie: 'split' };

const ALWAYS = Number.NEGATIVE_INFINITY;
const day = (year: number, month: number, date: number) => Date.UTC(year, month - 1, date);

const SHORT_WINDOWS: readonly EventType[] = ['5m', '15m', '4h'];
const ROUNDED = { decimals: 5, rounding: 'half_up' } as const;

export const FEES: readonly Row<FeeRule>[] = [
  { fromMs: ALWAYS, is: { rate: 0, exponent: 1, base: 'share', ...ROUNDED }, evidence: 'venue changelog' },
  {
    fromMs: day(2026, 1, 6),
    eventTypes: ['5m', '15m'],
    is: { rate: 0.25, exponent: 2, base: 'cost', ...ROUNDED },
    evidence:
      'documents of the time: 0.78 c at 0.50; 5m windows exist since 2026-02-12. Press of January says 1.56 c',
  },
  {
    fromMs: day(2026, 3, 6),
    is: { rate: 0.25, exponent: 2, base: 'cost', ...ROUNDED },
    evidence: 'documents of the time: all crypto markets',
  },
  {
    fromMs: day(2026, 3, 30),
    is: { rate: 0.072, exponent: 1, base: 'share', ...ROUNDED },
    evidence: 'several clients of the time: 1.80 c at 0.50',
  },
  {
    fromMs: day(2026, 5, 31),
    is: { rate: 0.07, exponent: 1, base: 'share', ...ROUNDED },
    evidence: 'first seen 2026-05-31, the exact day is not known; 584 of 584 listings of 06-08 and 07-24',
  },
];

export const HOLDS: readonly Row<number>[] = [
  { fromMs: ALWAYS, is: 0, evidence: 'none reported' },
  {
    fromMs: day(2025, 11, 14),
    eventTypes: ['15m', '1h'],
    is: 500,
    evidence: 'measured by a study of takers, unannounced; 15m and 1h only',
  },
  {
    fromMs: day(2026, 2, 18),
    is: 250,
    evidence:
      '500 ms gone on this day by press; 250 ms in the rules of 2026-06-05 and the listing flag `itode` since 2026-08, its first day is not known',
  },
  {
    fromMs: Date.UTC(2026, 7, 17, 11),
    is: 50,
    evidence: 'venue changelog: crypto and finance markets from 2026-08-17 11:00 UTC',
  },
  {
    fromMs: Date.UTC(2026, 8, 4, 14),
    is: 150,
    evidence:
      'venue changelog: from 2026-09-04 14:00 UTC, the last change known on 2026-11-22; two pages of its documents still say 250 ms',
  },
];

export const TICKS: readonly Row<TickRule>[] = [
  {
    fromMs: ALWAYS,
    is: { coarse: 100, fine: null, fineBelow: 400, fineAbove: 9600 },
    evidence: 'every price of 2026-03-10 on whole cents',
  },
  {
    fromMs: day(2026, 5, 26),
    is: { coarse: 100, fine: 10, fineBelow: 400, fineAbove: 9600 },
    evidence: '0.001 first seen in trades of 2026-05-26; 210 of 292 markets ended on it on 2026-07-24',
  },
];

/** Smallest size of an order that may rest, in units of 1/1,000,000 share. */
export const MINIMUM_SIZES: readonly Row<number>[] = [
  {
    fromMs: ALWAYS,
    is: 5_000_000,
    evidence: '5 shares in every listing and book of crypto windows seen, 2026-06-08 to 2026-10-05',
  },
];

/**
 * Share of the taker fees of a market that its makers receive. The venue pays it later, by each maker's share of the
 * filled volume, so it is expected rather than certain.
 */
export const MAKER_REBATES: readonly Row<number>[] = [
  { fromMs: ALWAYS, is: 0, evidence: 'no rebate is documented for earlier days' },
  {
    fromMs: day(2026, 5, 31),
    is: 0.2,
    evidence:
      'documents: 20 % of the fee for crypto; `rebateRate` 0.2 in the listings of 2026-06-08 and 07-24. The first day is not known',
  },
];

export const SETTLEMENTS: readonly Row<SettlementRule>[] = [
  {
    fromMs: ALWAYS,
    is: { kind: 'chainlink_spot', tie: 'up' },
    evidence: 'recomputed: 257 of 257 outcomes of 2026-07-24, 280 of 280 of 2026-06-08',
  },
  {
    fromMs: day(2026, 8, 7),
    eventTypes: SHORT_WINDOWS,
    is: { kind: 'chainlink_twap', lookbackSeconds: 60, tie: 'up' },
    evidence:
      'venue changelog: 60 s for 15m and 4h from this day; strike = close of the window before in 2008 of 2008',
  },
  {
    fromMs: day(2026, 8, 7),
    eventTypes: ['5m'],
    is: { kind: 'chainlink_twap', lookbackSeconds: 30, tie: 'up' },
    evidence: 'venue changelog: 30 s for 5m; the window of 2026-08-06 23:55 UTC was the last decided by spot',
  },
  {
    fromMs: day(2026, 8, 14),
    eventTypes: ['5m'],
    is: { kind: 'chainlink_twap', lookbackSeconds: 60, tie: 'up' },
    evidence: 'venue changelog: 60 s for 5m too; live metadata since this day',
  },
  {
    fromMs: ALWAYS,
    eventTypes: ['1h'],
    is: { kind: 'binance_hour', tie: 'up' },
    evidence: 'market text: 1 hour candle, close >= open',
  },
  {
    fromMs: ALWAYS,
    eventTypes: ['daily_up_down'],
    is: { kind: 'binance_minute', tie: 'split' },
    evidence: 'market text: close of the 1 minute candle of 12:00 ET, equal = 50-50',
  },
];

/** Since when the listing has `priceToBeat` and `finalPrice`: undocumented, with holes. Null: unknown. */
export const OFFICIAL_STRIKES: readonly Row<boolean | null>[] = [
  { fromMs: ALWAYS, is: null, evidence: 'first day seen for 5m and 15m only' },
  { fromMs: ALWAYS, eventTypes: ['5m', '15m'], is: false, evidence: 'absent from every object before' },
  { fromMs: day(2026, 2, 18), eventTypes: ['15m'], is: true, evidence: 'first seen' },
  { fromMs: day(2026, 2, 19), eventTypes: ['5m'], tickers: ['BTC'], is: true, evidence: 'first seen' },
  { fromMs: day(2026, 3, 18), eventTypes: ['5m'], tickers: ['ETH', 'SOL'], is: true, evidence: 'first seen' },
];
