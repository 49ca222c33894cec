import { expect, test } from 'vitest';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { randomTape } from '../../../test/support/tapes.ts';
import { CONDITION_METRICS, OPERATORS, type Strategy } from '../../schema/strategy.ts';
import { Random } from '../random.ts';
import { type PreparedMarket, prepareMarket } from '../session/prepare.ts';
import { compileStrategy } from './compile.ts';
import { type Bound, readerOf, rememberedAfter } from './condition.ts';
import { STOP_LOSS, TAKE_PROFIT, WAIT } from './strategy.ts';

const VALUES = [-0.5, 0.02, 0.3, 0.5, 0.52, 1, 60, 150] as const;

function drawn(seed: string): Strategy {
  const random = new Random(seed);
  const pick = <T>(of: readonly T[]) => of[random.below(of.length)] as T;
  const conditions = (most: number) =>
    Array.from({ length: 1 + random.below(most) }, () => ({
      ...{ metric: pick(CONDITION_METRICS), operator: pick(OPERATORS), value: pick(VALUES) },
    }));
  return {
    ...{ type: 'condition_based', side: pick(['buy_yes', 'buy_no']), max_trades_per_market: 9 },
    ...{ entry: conditions(3), take_profit: conditions(2), stop_loss: [] },
  };
}

const ALL = {
  ...STRATEGIES,
  ...Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`drawn ${n}`, drawn(`strategy ${n}`)])),
};

/** Whether a row reaches a bound, for each row in turn. */
function reaches({ reading, side, crosses, value }: Bound, { rows, market }: PreparedMarket) {
  const read = readerOf(reading, { rows, endTimeMs: market.endTimeMs });
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
  const prepared = prepareMarket(randomTape('bound', { books: 800, levels: 5 }), { model: true });
  const { rows, market } = prepared;
  let [wished, withheld] = [0, 0];
  for (const [name, strategy] of Object.entries(ALL)) {
    const { bounds, exits, start } = compileStrategy(strategy);
    if (bounds === null) {
      expect(strategy.type).toBe('mean_reversion');
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
