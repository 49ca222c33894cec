import { expect, test } from 'vitest';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { randomTape } from '../../../test/support/tapes.ts';
import { CONDITION_METRICS, OPERATORS, type Strategy } from '../../schema/strategy.ts';
import { Random } from '../../simulator/random.ts';
import { prepareMarket } from '../replay/prepare.ts';
import { compileStrategy } from './compile.ts';
import { readerOf } from './condition.ts';
import { WAIT } from './strategy.ts';

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

test('nothing is bought at a row whose reading is not beyond the bound', () => {
  const prepared = prepareMarket(randomTape('bound', { books: 800, levels: 5 }), { model: true });
  const { rows, market } = prepared;
  let [bought, withheld] = [0, 0];
  for (const [name, strategy] of Object.entries(ALL)) {
    const compiled = compileStrategy(strategy);
    const { entryBound: bound } = compiled;
    if (bound === null) {
      expect(strategy.type).toBe('mean_reversion');
      continue;
    }
    const read = readerOf(bound.reading, { rows, endTimeMs: market.endTimeMs });
    const run = compiled.start(rows, market);
    for (let row = 0; row < rows.count; row++) {
      const isBeyond = bound.side === 'below' ? read(row) < bound.value : read(row) > bound.value;
      const intent = run.decide(row, null);
      if (!isBeyond) expect(intent, `${name}, row ${row}`).toBe(WAIT);
      if (isBeyond && intent !== WAIT) bought++;
      if (!isBeyond) withheld++;
    }
  }
  expect(Math.min(bought, withheld)).toBeGreaterThan(1_000);
});
