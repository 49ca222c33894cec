import { expect, test } from 'vitest';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { randomTape } from '../../../test/support/tapes.ts';
import { CONDITION_METRICS, OPERATORS, type Strategy } from '../../schema/strategy.ts';
import { Random } from '../../simulator/random.ts';
import { prepareMarket } from '../replay/prepare.ts';
import { compileStrategy } from './compile.ts';
import { readerOf, rememberedAfter } from './condition.ts';
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

test('nothing is bought at a row whose reading is not beyond the bound, or has not come there', () => {
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
    let before = Number.NaN;
    for (let row = 0; row < rows.count; row++) {
      const [now, { side, value }] = [read(row), bound];
      const isBeyond = side === 'below' ? now < value : now > value;
      const came = side === 'below' ? before >= value : before <= value;
      const mayBuy = isBeyond && (came || !bound.crosses);
      before = rememberedAfter(before, now, rows.trusted[row] === 1);
      const intent = run.decide(row, null);
      if (!mayBuy) expect(intent, `${name}, row ${row}`).toBe(WAIT);
      if (mayBuy && intent !== WAIT) bought++;
      if (!mayBuy) withheld++;
    }
  }
  expect(Math.min(bought, withheld)).toBeGreaterThan(1_000);
});
