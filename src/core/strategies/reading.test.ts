import { describe, expect, test } from 'vitest';
import { withPricesBeside } from '../../../test/support/oddTapes.ts';
import { randomTape, START_MS, TapeWriter } from '../../../test/support/tapes.ts';
import { type Condition, OPERATORS } from '../../schema/strategy.ts';
import { VolatilityEstimator } from '../pricing/volatilityEstimator.ts';
import { type PreparedMarket, prepareMarket } from '../session/prepare.ts';
import type { MarketTape } from '../session/tape.ts';
import type { Token } from '../signals/signal.ts';
import { compileStrategy } from './compile.ts';
import { measureOf, type Reading, readingKey } from './reading.ts';
import { WAIT } from './strategy.ts';

const FRESH_MS = 10_000;

const reading = (metric: Reading['metric'], token: Token, windowSeconds: number | null = null): Reading => ({
  ...{ metric, token, windowSeconds, price: 'ask' },
});

function preparedFor(tape: MarketTape, read: Reading): PreparedMarket {
  const measure = measureOf(read);
  return prepareMarket(tape, { model: true, measures: measure === null ? [] : [measure] });
}

/** The value of a reading at each row. */
function valuesOf(tape: MarketTape, read: Reading): { prepared: PreparedMarket; values: number[] } {
  const prepared = preparedFor(tape, read);
  return { prepared, values: [...prepared.columns.now(read, readingKey(read)).values] };
}

/** The mid of a token at a row, USDC per share; null without a proven, two-sided book. */
function midAt({ rows }: PreparedMarket, row: number, token: Token): number | null {
  const [bid, ask] =
    token === 'yes' ? [rows.yesBid[row], rows.yesAsk[row]] : [rows.noBid[row], rows.noAsk[row]];
  const mid = ((bid as number) + (ask as number)) / 20_000;
  return rows.trusted[row] === 1 && !Number.isNaN(mid) ? mid : null;
}

/** The mid at the end of each of the whole seconds before a row; null if one of them is older than the last break. */
function secondMids(
  prepared: PreparedMarket,
  row: number,
  wanted: { token: Token; seconds: number },
): number[] | null {
  const secondOf = (at: number) => Math.floor((prepared.rows.timeMs[at] as number) / 1_000);
  const before = Array.from({ length: row }, (_, at) => at);
  const lastBreak = before.findLastIndex((at) => midAt(prepared, at, wanted.token) === null);
  const mids = Array.from({ length: wanted.seconds }, (_, n) => {
    const own = secondOf(row) - wanted.seconds + n;
    const last = before.findLastIndex((at) => secondOf(at) <= own);
    return last > lastBreak ? (midAt(prepared, last, wanted.token) as number) : null;
  });
  return mids.includes(null) ? null : (mids as number[]);
}

function deviation(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1));
}

describe.each(['yes', 'no'] as const)('on random tapes, for %s', (token) => {
  const tapes = Array.from({ length: 6 }, (_, n) => randomTape(`readings ${n}`, { books: 150, levels: 2 }));

  test('the move of a token is its mid less the first one received in the window', () => {
    let known = 0;
    for (const tape of tapes) {
      const { prepared, values } = valuesOf(tape, reading('token_move', token));
      const { timeMs } = prepared.rows;
      for (const [row, value] of values.entries()) {
        const mid = midAt(prepared, row, token);
        const first = values.findIndex(
          (_, at) => (timeMs[at] as number) >= START_MS && midAt(prepared, at, token) !== null,
        );
        const isKnown = mid !== null && first >= 0 && first <= row;
        if (!isKnown) expect(value).toBeNaN();
        else expect(value).toBeCloseTo(mid - (midAt(prepared, first, token) as number), 12);
        if (isKnown) known++;
      }
    }
    expect(known).toBeGreaterThan(500);
  });

  test.each([2, 7, 30])(
    'the volatility of a token is the deviation of its mids of the last %i seconds',
    (seconds) => {
      let known = 0;
      for (const tape of tapes) {
        const { prepared, values } = valuesOf(tape, reading('token_volatility', token, seconds));
        for (const [row, value] of values.entries()) {
          const mids =
            midAt(prepared, row, token) === null ? null : secondMids(prepared, row, { token, seconds });
          if (mids === null) expect(value, `row ${row}`).toBeNaN();
          else expect(value, `row ${row}`).toBeCloseTo(deviation(mids), 9);
          if (mids !== null) known++;
        }
      }
      expect(known).toBeGreaterThan(100);
    },
  );
});

describe('the underlying', () => {
  /** Prices received up to a time, as a plain list. */
  const pricesUpTo = ({ prices }: MarketTape, timeMs: number) =>
    Array.from(prices?.receivedMs ?? [], (receivedMs, at) => ({
      receivedMs,
      price: prices?.price[at] as number,
    })).filter((point) => point.receivedMs <= timeMs);

  test('moves from its price at the open; its volatility is that of the whole seconds received', () => {
    let known = 0;
    const window = 120;
    for (let n = 0; n < 4; n++) {
      const tape = randomTape(`measures ${n}`, { books: 120, levels: 2 });
      const usd = valuesOf(tape, reading('underlying_move_usd', 'yes'));
      const pct = valuesOf(tape, reading('underlying_move_pct', 'no')).values;
      const volatility = valuesOf(tape, reading('underlying_volatility', 'yes', window)).values;
      const { rows } = usd.prepared;
      for (const [row, value] of usd.values.entries()) {
        const nowMs = rows.timeMs[row] as number;
        const all = pricesUpTo(tape, nowMs);
        const spot = all.at(-1);
        const open = pricesUpTo(tape, START_MS).at(-1)?.price as number;
        const isFresh = spot !== undefined && nowMs - spot.receivedMs <= FRESH_MS && rows.trusted[row] === 1;
        if (!isFresh || nowMs < START_MS) {
          expect([value, pct[row]]).toEqual([Number.NaN, Number.NaN]);
        } else {
          expect(value).toBeCloseTo(spot.price - open, 9);
          expect(pct[row]).toBeCloseTo((100 * (spot.price - open)) / open, 9);
          known++;
        }
        const estimator = new VolatilityEstimator();
        const second = Math.floor((spot?.receivedMs ?? 0) / 1_000);
        for (const point of all) {
          if (Math.floor(point.receivedMs / 1_000) < second) estimator.push(point.receivedMs, point.price);
        }
        expect(volatility[row]).toBe((isFresh ? estimator.sigmaAnnual(window) : null) ?? Number.NaN);
      }
    }
    expect(known).toBeGreaterThan(200);
  });

  /** A book a second, and prices at some milliseconds after the open. */
  const withPrices = (...at: readonly (readonly [number, number])[]) => {
    const writer = new TapeWriter();
    const events = [
      ...at.map(([ms, price]) => ({ ms, write: () => writer.price(ms, price) })),
      ...Array.from({ length: 31 }, (_, second) => ({
        ms: second * 1_000,
        write: () => writer.book({ at: second * 1_000, bids: [[0.4, 1 + second]], asks: [[0.5, 1]] }),
      })),
    ];
    for (const { write } of events.toSorted((a, b) => a.ms - b.ms)) write();
    return writer.tape();
  };
  const movesAt = (tape: MarketTape, second: number) => {
    const { prepared, values } = valuesOf(tape, reading('underlying_move_usd', 'yes'));
    return values[prepared.rows.timeMs.findLastIndex((ms) => ms === START_MS + second * 1_000)];
  };

  test.each([
    [
      'the newest price before it, if that is fresh',
      [
        [-9_000, 100],
        [-2_000, 90],
        [4_000, 97],
      ],
      7,
    ],
    [
      'the first price soon after it',
      [
        [-10_001, 80],
        [3_000, 100],
        [4_000, 97],
      ],
      -3,
    ],
    [
      'no price at all if none was near it',
      [
        [-10_001, 80],
        [10_001, 100],
        [12_000, 97],
      ],
      Number.NaN,
    ],
  ] as const)('the price at the open is %s', (_, prices, expected) => {
    expect(movesAt(withPrices(...prices), 12)).toBe(expected);
  });

  test('a move is unknown when the newest price is older than ten seconds', () => {
    const tape = withPrices([-1_000, 100], [5_000, 103]);
    expect([movesAt(tape, 15), movesAt(tape, 16)]).toEqual([3, Number.NaN]);
  });

  test('a deciding feed that starts in mid-window does not move from the price of another feed', () => {
    const tape = withPricesBeside(withPrices([15_000, 100], [16_000, 103]));
    tape.quotes.underlying.fill(90);
    expect(movesAt(tape, 20)).toBeNaN();
  });
});

test('a reading has a key of its own: another metric, token, price or window has another', () => {
  const own: Reading = { metric: 'token_volatility', token: 'yes', price: 'ask', windowSeconds: 60 };
  const others: readonly Partial<Reading>[] = [
    ...[{}, { metric: 'token_move' }, { token: 'no' }, { price: 'bid' }, { windowSeconds: 600 }],
    { windowSeconds: null },
  ] as const;
  expect(new Set(others.map((other) => readingKey({ ...own, ...other }))).size).toBe(6);
  expect(readingKey({ ...own })).toBe(readingKey(own));
});

describe('an unknown value', () => {
  const empty = new TapeWriter().book({ at: 1_000, bids: [[0.4, 1]] }).tape();
  test.each(OPERATORS)('does not satisfy %s', (operator) => {
    const metrics: readonly Omit<Condition, 'operator' | 'value'>[] = [
      { metric: 'token_price' },
      { metric: 'spread' },
      { metric: 'token_move' },
      { metric: 'token_volatility', window_s: 2 },
      { metric: 'underlying_move_usd' },
      { metric: 'underlying_volatility', window_s: 60 },
      { metric: 'model_probability' },
    ];
    for (const { metric, ...rest } of metrics) {
      for (const value of [-1e9, 0, 1e9]) {
        const compiled = compileStrategy({
          ...{ type: 'condition_based', side: 'buy_yes', entry: [{ metric, operator, value, ...rest }] },
          ...{ take_profit: [], stop_loss: [], max_trades_per_market: 1 },
        });
        const { rows, market, columns } = prepareMarket(empty, compiled.needs);
        const plain = compiled.start(rows, market);
        for (let row = 0; row < rows.count; row++) expect(plain.decide(row, null), metric).toBe(WAIT);
        expect(compiled.startRecorded?.(columns).nextWish?.(0, null), metric).toBe(rows.count);
      }
    }
  });
});

describe('operators on whole ticks', () => {
  const tape = new TapeWriter().book({ at: 1_000, bids: [[0.4, 1]], asks: [[0.43, 1]] }).tape();
  test.each([
    ['>=', 0.43, true],
    ['>=', 0.4301, false],
    ['<=', 0.43, true],
    ['<=', 0.4299, false],
    ['==', 0.43, true],
    ['==', 0.4301, false],
    ['!=', 0.43, false],
    ['!=', 0.4301, true],
  ] as const)('an ask of 0.43 is %s %d: %s', (operator, value, holds) => {
    const compiled = compileStrategy({
      ...{ type: 'condition_based', side: 'buy_yes', entry: [{ metric: 'token_price', operator, value }] },
      ...{ take_profit: [], stop_loss: [], max_trades_per_market: 1 },
    });
    const { rows, market } = prepareMarket(tape, compiled.needs);
    expect(compiled.start(rows, market).decide(0, null) !== WAIT).toBe(holds);
  });
});
