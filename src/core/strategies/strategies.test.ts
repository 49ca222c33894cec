import { describe, expect, test } from 'vitest';
import { START_MS, TAPE_MARKET, TapeWriter } from '../../../test/support/tapes.ts';
import type { Condition, Strategy } from '../../schema/strategy.ts';
import { prepareMarket } from '../session/prepare.ts';
import type { Token } from '../signals/signal.ts';
import { compileStrategy, memoryMs } from './compile.ts';
import { BUY_NO, BUY_YES, type Intent, STOP_LOSS, TAKE_PROFIT, WAIT } from './strategy.ts';

/** A strategy's intent at each row of a tape; `held` returns the token held there. */
function intents(
  writer: TapeWriter,
  strategy: Strategy,
  held: (row: number) => Token | null = () => null,
): Intent[] {
  const compiled = compileStrategy(strategy);
  const { rows } = prepareMarket(writer.tape(), compiled.needs);
  const run = compiled.start(rows, writer.market);
  return Array.from({ length: rows.count }, (_, row) => run.decide(row, held(row)));
}

/** One book per second with the given bid and ask of YES, in cents. */
function quotes(...pairs: readonly (readonly [number, number])[]): TapeWriter {
  const writer = new TapeWriter();
  pairs.forEach(([bid, ask], second) => {
    writer.book({ at: second * 1_000, bids: [[bid / 100, 100]], asks: [[ask / 100, 300]] });
  });
  return writer;
}

const conditions = (entry: Condition, rest: Partial<Strategy> = {}): Strategy =>
  ({
    ...{ type: 'condition_based', side: 'buy_yes', entry: [entry] },
    ...{ take_profit: [], stop_loss: [], max_trades_per_market: 1, ...rest },
  }) as Strategy;

test('a strategy remembers whole seconds, and the one in which it starts', () => {
  const volatility = (window_s: number): Condition =>
    ({ metric: 'token_volatility', operator: 'above', value: 0, window_s }) as Condition;
  const price: Condition = { metric: 'token_price', operator: 'above', value: 0 };
  expect([
    memoryMs({ type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' }),
    memoryMs({ type: 'time_before_resolution', minutes_before: 1, side: 'buy_yes' }),
    memoryMs({ type: 'mean_reversion', lookback: 4, z_threshold: 1.8 }),
    memoryMs(conditions(price)),
    memoryMs(conditions(volatility(60))),
    memoryMs(conditions(price, { take_profit: [volatility(30)], stop_loss: [volatility(120)] })),
  ]).toEqual([0, 0, 5_000, 0, 61_000, 121_000]);
});

test.each<[Condition['metric'], number | undefined, object]>([
  ['token_price', undefined, { model: false, books: false, strike: false, measures: [] }],
  ['token_volatility', 60, { model: false, books: false, strike: false, measures: [] }],
  ['imbalance', undefined, { model: false, books: true, strike: false, measures: [] }],
  ['underlying_distance_pct', undefined, { model: true, books: false, strike: true, measures: [] }],
  ['underlying_distance_sigma', undefined, { model: true, books: false, strike: true, measures: [] }],
  ['model_probability', undefined, { model: true, books: false, strike: true, measures: [] }],
  [
    'underlying_move_usd',
    undefined,
    { model: true, books: false, strike: false, measures: [{ of: 'move_usd', windowSeconds: null }] },
  ],
  [
    'underlying_volatility',
    120,
    { model: true, books: false, strike: false, measures: [{ of: 'volatility', windowSeconds: 120 }] },
  ],
])('a strategy that reads %s over %s seconds needs no more than that', (metric, window_s, needs) => {
  const condition = { metric, operator: 'above', value: 0, ...(window_s && { window_s }) } as Condition;
  expect(compileStrategy(conditions(condition)).needs).toEqual(needs);
  const price: Condition = { metric: 'token_price', operator: 'above', value: 0 };
  expect(compileStrategy(conditions(price, { stop_loss: [condition] })).needs).toEqual(needs);
});

describe('threshold_entry', () => {
  const tape = () => quotes([28, 31], [28, 30], [27, 29], [69, 72]);

  test.each([
    ['below', 'buy_yes', 0.3, [WAIT, WAIT, BUY_YES, WAIT]],
    ['above', 'buy_yes', 0.3, [BUY_YES, WAIT, WAIT, BUY_YES]],
    ['below', 'buy_no', 0.72, [WAIT, WAIT, WAIT, BUY_NO]],
    ['above', 'buy_no', 0.72, [WAIT, WAIT, BUY_NO, WAIT]],
  ] as const)(
    '%s, %s, %d: compares the best ask of the token bought, excluding the threshold itself',
    (direction, side, threshold, wanted) => {
      expect(intents(tape(), { type: 'threshold_entry', threshold, direction, side })).toEqual(wanted);
    },
  );

  test('an empty side has no price', () => {
    const empty = new TapeWriter().book({ at: 0, bids: [[0.2, 1]] });
    expect(
      intents(empty, { type: 'threshold_entry', threshold: 1, direction: 'below', side: 'buy_yes' }),
    ).toEqual([WAIT]);
  });
});

test('time_before_resolution buys from that time on', () => {
  const length = TAPE_MARKET.endTimeMs - START_MS;
  const writer = new TapeWriter();
  for (const left of [61_000, 60_001, 60_000, 5_000]) {
    writer.book({ at: length - left, bids: [[0.4, left]], asks: [[0.5, 1]] });
  }
  expect(intents(writer, { type: 'time_before_resolution', minutes_before: 1, side: 'buy_no' })).toEqual([
    WAIT,
    WAIT,
    BUY_NO,
    BUY_NO,
  ]);
});

describe('mean_reversion', () => {
  const strategy: Strategy = { type: 'mean_reversion', lookback: 4, z_threshold: 1.8 };
  // Mids 50, 52, 50, 52: mean 51, sample deviation 1.1547.
  const calm = [
    [49, 51],
    [51, 53],
    [49, 51],
    [51, 53],
  ] as const;

  test('buys a token that is enough deviations below its mean, or the other token above it', () => {
    expect(intents(quotes(...calm, [48, 50]), strategy)).toEqual([WAIT, WAIT, WAIT, WAIT, WAIT]);
    expect(intents(quotes(...calm, [48, 49]), strategy).at(-1)).toBe(BUY_YES);
    expect(intents(quotes(...calm, [53, 54]), strategy).at(-1)).toBe(BUY_NO);
  });

  test('exactly that many deviations are enough', () => {
    // Mids 49, 50, 51: mean 50, sample deviation 1.
    const tape = (mid: number) => quotes([48, 50], [49, 51], [50, 52], [mid - 1, mid + 1]);
    const two: Strategy = { type: 'mean_reversion', lookback: 3, z_threshold: 2 };
    expect([48, 52].map((mid) => intents(tape(mid), two).at(-1))).toEqual([BUY_YES, BUY_NO]);
  });

  test('sells when the current mean is reached again', () => {
    const tape = () => quotes(...calm, [46, 48], [47, 49], [50, 52]);
    expect(intents(tape(), strategy, () => 'yes').slice(4)).toEqual([WAIT, WAIT, TAKE_PROFIT]);
    expect(intents(tape(), strategy, () => 'no').slice(4)).toEqual([TAKE_PROFIT, TAKE_PROFIT, WAIT]);
  });

  test('sells at the very mean, also of a token that it bought as NO', () => {
    // Mids 50, 52, 50, 52, then 51.
    const tape = () => quotes(...calm, [50, 52]);
    for (const token of ['yes', 'no'] as const)
      expect(intents(tape(), strategy, () => token).at(-1)).toBe(TAKE_PROFIT);
  });

  test('a second without a change has the mid of the one before; many changes in one count once', () => {
    const writer = new TapeWriter();
    const book = (at: number, mid: number) =>
      writer.book({ at, bids: [[mid / 100 - 0.01, 1]], asks: [[mid / 100 + 0.01, 1]] });
    for (let at = 0; at < 900; at += 100) book(at, 30 + at / 100);
    book(900, 50);
    book(2_000, 52);
    book(4_000, 48);
    // Seconds 0..3: 50, 50, 52, 52; mean 51, deviation 1.1547: 48 is 2.6 below.
    expect(intents(writer, strategy).at(-1)).toBe(BUY_YES);
  });

  test('forgets everything from before an untrusted book', () => {
    const writer = quotes(...calm).book({ at: 4_000, bids: [[0.4, 1]], asks: [[0.5, 1]], trusted: false });
    writer.book({ at: 4_100, bids: [[0.3, 1]], asks: [[0.32, 1]] });
    expect(intents(writer, strategy).at(-1)).toBe(WAIT);
  });

  test('restarts its window after a second with only one side', () => {
    const tape = () => quotes(...calm).book({ at: 4_000, bids: [[0.49, 1]] });
    const after = [
      [49, 51],
      [51, 53],
      [49, 51],
      [51, 53],
      [40, 42],
    ] as const;
    const writer = tape();
    after.forEach(([bid, ask], second) => {
      writer.book({ at: 5_000 + second * 1_000, bids: [[bid / 100, 1]], asks: [[ask / 100, 1]] });
    });
    const soon = tape().book({ at: 5_000, bids: [[0.4, 1]], asks: [[0.42, 1]] });
    expect(intents(soon, strategy).at(-1)).toBe(WAIT);
    expect(intents(writer, strategy).slice(-2)).toEqual([WAIT, BUY_YES]);
  });

  test('restarts its window if one side was gone within a second', () => {
    const writer = quotes(...calm)
      .book({ at: 3_200, bids: [[0.49, 1]] })
      .book({ at: 3_400, bids: [[0.51, 1]], asks: [[0.53, 1]] })
      .book({ at: 4_000, bids: [[0.4, 1]], asks: [[0.42, 1]] });
    expect(intents(writer, strategy).at(-1)).toBe(WAIT);
  });

  test('without any variation there is no deviation to measure by', () => {
    const flat = quotes([49, 51], [49, 51], [49, 51], [49, 51], [40, 42]);
    expect(intents(flat, strategy).at(-1)).toBe(WAIT);
  });
});

describe('condition_based', () => {
  const row = () => quotes([40, 43]);

  test.each([
    [{ metric: 'token_price', operator: 'above', value: 0.42 }, 'buy_yes', true],
    [{ metric: 'token_price', operator: 'above', value: 0.43 }, 'buy_yes', false],
    [{ metric: 'token_price', operator: 'below', value: 0.61 }, 'buy_no', true],
    [{ metric: 'token_price', token: 'no', operator: 'above', value: 0.59 }, 'buy_yes', true],
    [{ metric: 'token_price', token: 'yes', operator: 'below', value: 0.44 }, 'buy_no', true],
    [{ metric: 'spread', operator: 'below', value: 0.0301 }, 'buy_no', true],
    [{ metric: 'spread', operator: 'below', value: 0.03 }, 'buy_no', false],
    // 100 bid for YES against 300 offered.
    [{ metric: 'imbalance', operator: 'below', value: -0.49 }, 'buy_yes', true],
    [{ metric: 'imbalance', operator: 'above', value: 0.49 }, 'buy_no', true],
    [{ metric: 'seconds_to_end', operator: 'above', value: 299.9 }, 'buy_yes', true],
    [{ metric: 'model_probability', operator: 'above', value: 0 }, 'buy_yes', false],
  ] as const)('%j, %s: %s', (condition, side, holds) => {
    const wanted = holds ? (side === 'buy_yes' ? BUY_YES : BUY_NO) : WAIT;
    expect(intents(row(), conditions(condition, { side }))).toEqual([wanted]);
  });

  test('the seconds since the open count from the start of the window', () => {
    const strategy = conditions({ metric: 'seconds_since_open', operator: '==', value: 1 });
    expect(intents(quotes([40, 43], [40, 44], [40, 45]), strategy)).toEqual([WAIT, BUY_YES, WAIT]);
  });

  test('a crossing is an event, not a state; it starts from a known value', () => {
    const tape = () => quotes([40, 45], [40, 50], [40, 51], [40, 55], [40, 50], [40, 52]);
    expect(
      intents(tape(), conditions({ metric: 'token_price', operator: 'crosses_above', value: 0.5 })),
    ).toEqual([...[WAIT, WAIT, BUY_YES, WAIT, WAIT, BUY_YES]]);
    expect(
      intents(tape(), conditions({ metric: 'token_price', operator: 'crosses_below', value: 0.51 })),
    ).toEqual([...[WAIT, WAIT, WAIT, WAIT, BUY_YES, WAIT]]);
  });

  test('a crossing remembers the last known value while there is none', () => {
    const tape = quotes([40, 45])
      .book({ at: 1_000, bids: [[0.4, 1]] })
      .book({ at: 2_000, bids: [[0.4, 1]], asks: [[0.51, 1]] });
    const above = conditions({ metric: 'token_price', operator: 'crosses_above', value: 0.5 });
    expect(intents(tape, above)).toEqual([WAIT, WAIT, BUY_YES]);
  });

  test('a crossing in a group sees the rows at which another condition is false', () => {
    const strategy = conditions({ metric: 'token_price', operator: 'above', value: 0 }, {
      entry: [
        { metric: 'spread', operator: 'below', value: 0.03 },
        {
          any: [
            { metric: 'token_price', operator: 'crosses_above', value: 0.5 },
            { metric: 'token_price', operator: 'above', value: 0.9 },
          ],
        },
      ],
    } as Partial<Strategy>);
    const tape = quotes([43, 45], [40, 55], [54, 56], [44, 46], [53, 55]);
    expect(intents(tape, strategy)).toEqual([WAIT, WAIT, WAIT, WAIT, BUY_YES]);
  });

  test('all entry conditions must be true; any exit is enough, and a stop loss goes first', () => {
    const strategy: Strategy = {
      ...{ type: 'condition_based', side: 'buy_yes', max_trades_per_market: 1 },
      entry: [
        { metric: 'token_price', operator: 'below', value: 0.5 },
        { metric: 'spread', operator: 'below', value: 0.03 },
      ],
      take_profit: [{ metric: 'token_price', operator: 'above', value: 0.6 }],
      stop_loss: [
        { metric: 'token_price', operator: 'below', value: 0.3 },
        { metric: 'spread', operator: 'above', value: 0.2 },
      ],
    };
    const tape = () => quotes([44, 48], [46, 48], [61, 63], [20, 22], [61, 90]);
    expect(intents(tape(), strategy)).toEqual([WAIT, BUY_YES, WAIT, BUY_YES, WAIT]);
    // While held, the token's price is the bid.
    expect(intents(tape(), strategy, () => 'yes')).toEqual([WAIT, WAIT, TAKE_PROFIT, STOP_LOSS, STOP_LOSS]);
  });

  test('a crossing of an exit list sees the rows before the purchase', () => {
    const strategy = conditions(
      { metric: 'spread', operator: 'below', value: 1 },
      { take_profit: [{ metric: 'token_price', operator: 'crosses_above', value: 0.5 }] },
    );
    const tape = quotes([45, 60], [55, 60]);
    expect(intents(tape, strategy, (at) => (at === 0 ? null : 'yes'))).toEqual([BUY_YES, TAKE_PROFIT]);
  });

  test('distance, sigma and probability are those of the model, for the token bought', () => {
    const writer = new TapeWriter({ strikeKnownTimeMs: START_MS });
    let price = 97_000;
    for (let second = -120; second <= 10; second++) {
      price *= 1 + 0.0001 * (second % 3 === 0 ? 2 : -0.99);
      writer.price(second * 1_000, price);
    }
    writer.price(11_000, 97_485);
    writer.book({ at: 12_000, bids: [[0.4, 1]], asks: [[0.5, 1]] });
    const last = (
      metric: Condition['metric'],
      operator: Condition['operator'],
      value: number,
      side = 'buy_yes',
    ) =>
      intents(writer, conditions({ metric, operator, value }, { side } as Partial<Strategy>)).at(-1) !== WAIT;
    expect(last('underlying_distance_pct', 'above', 0.499)).toBe(true);
    expect(last('underlying_distance_pct', 'above', 0.501)).toBe(false);
    expect(last('underlying_distance_sigma', 'above', 1)).toBe(true);
    expect(last('model_probability', 'above', 0.8)).toBe(true);
    expect(last('model_probability', 'above', 0.5, 'buy_no')).toBe(false);
    expect(last('model_probability', 'below', 0.2, 'buy_no')).toBe(true);
  });
});
