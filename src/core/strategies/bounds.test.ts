import { expect, test } from 'vitest';
import { drawnStrategy } from '../../../test/support/drawnConditions.ts';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { randomTape } from '../../../test/support/tapes.ts';
import { CONDITION_METRICS, type Condition, type Strategy } from '../../schema/strategy.ts';
import { Random } from '../random.ts';
import { type PreparedMarket, prepareMarket } from '../session/prepare.ts';
import { needsOfAll } from '../session/rows.ts';
import { type Bound, rarestOf } from './bound.ts';
import { compileStrategy } from './compile.ts';
import { rememberedAfter } from './condition.ts';
import { hasSeries, readerOf } from './reading.ts';
import { STOP_LOSS, TAKE_PROFIT, WAIT } from './strategy.ts';

const SEEN_ROW_BY_ROW = CONDITION_METRICS.filter((metric) => !hasSeries({ metric }));

const ALL: Readonly<Record<string, Strategy>> = {
  ...STRATEGIES,
  ...Object.fromEntries(
    Array.from({ length: 90 }, (_, n) => [
      `drawn ${n}`,
      { ...drawnStrategy(new Random(`strategy ${n}`), SEEN_ROW_BY_ROW), stop_loss: [] },
    ]),
  ),
};

/** Whether a row reaches a bound, for each row in turn. */
function reaches({ reading, side, crosses, value }: Bound, { rows, market }: PreparedMarket) {
  const read = readerOf(reading, { ...market, rows });
  let before = Number.NaN;
  return (row: number) => {
    const now = read(row);
    const isBeyond = side === 'below' ? now < value : now > value;
    const came = side === 'below' ? before >= value : before <= value;
    before = rememberedAfter(before, now, rows.trusted[row] === 1);
    return isBeyond && (came || !crosses);
  };
}

test.each(['bought', 'sold'] as const)('nothing is %s at a row that reaches none of the bounds', (what) => {
  const needs = needsOfAll(Object.values(ALL).map((strategy) => compileStrategy(strategy).needs));
  const prepared = prepareMarket(randomTape('bound', { books: 800, levels: 5 }), needs);
  const { rows, market } = prepared;
  let [wished, withheld] = [0, 0];
  for (const [name, strategy] of Object.entries(ALL)) {
    const { bounds, exits, start } = compileStrategy(strategy);
    if (bounds === null) {
      // Both remember more than crossings.
      expect(
        strategy.type === 'mean_reversion' || /"token_(?:move|volatility)"/.test(JSON.stringify(strategy)),
        name,
      ).toBe(true);
      continue;
    }
    const held =
      what === 'bought' || !('side' in strategy) ? null : strategy.side === 'buy_yes' ? 'yes' : 'no';
    const tests = (what === 'bought' ? bounds.entry : bounds.exit).map((bound) => reaches(bound, prepared));
    expect(tests.length > 0, name).toBe(what === 'bought' || exits);
    const run = start(rows, market);
    for (let row = 0; row < rows.count; row++) {
      const isReached = tests.map((test) => test(row)).includes(true);
      const intent = run.decide(row, held);
      // A held position is not bought again.
      const isWish = what === 'bought' ? intent !== WAIT : intent === TAKE_PROFIT || intent === STOP_LOSS;
      if (!isReached) expect(isWish, `${name}, row ${row}`).toBe(false);
      if (isReached && isWish) wished++;
      if (!isReached) withheld++;
    }
  }
  expect(Math.min(wished, withheld)).toBeGreaterThan(1_000);
});

test('of an entry a crossing is watched first, then a price, then any other value, and an inequality last', () => {
  const crossing: Condition = { metric: 'spread', operator: 'crosses_above', value: 0.1 };
  const price: Condition = { metric: 'token_price', operator: 'below', value: 0.4 };
  const spread: Condition = { metric: 'spread', operator: 'below', value: 0.1 };
  const unequal: Condition = { metric: 'token_price', operator: '!=', value: 0.4 };
  const inOrder = [crossing, price, spread, unequal];
  for (const [at, condition] of inOrder.entries())
    expect(rarestOf(inOrder.slice(at).toReversed())).toEqual([condition]);
  // A group is as rare as the most frequent of its conditions.
  expect(rarestOf([{ any: [crossing, spread] }, price])).toEqual([price]);
  expect(rarestOf([{ any: [crossing, price] }, spread])).toEqual([crossing, price]);
});
