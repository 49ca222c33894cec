import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { storedFigures, storedTrades } from './storedResult.ts';

const FIGURES = { trades_total: 2, total_pnl: 1.5, markets_skipped: [{ market_id: '0xa', reason: 'gap' }] };
const curve = [{ market_id: '0xa', ts: '2026-11-20T12:00:00.000+00:00', cumulative_pnl: 1 }];
const resultOf = (trades: readonly object[]) =>
  JSON.stringify({ ...FIGURES, equity_curve: curve, trades, receipt: { seed: 1 } });

test.each([[0], [1], [2], [500], [1_201]])(
  'the figures and %i trades are those of the whole',
  async (count) => {
    const trades = Array.from({ length: count }, (_, n) => ({
      market_id: `0x${n}`,
      net_pnl: null,
      shares: n,
    }));
    const result = resultOf(trades);
    expect(storedFigures(result)).toEqual(FIGURES);
    expect(await Array.fromAsync(storedTrades(result))).toEqual(trades);
  },
);

test('a result without a curve has figures and no trades', async () => {
  const result = JSON.stringify(FIGURES);
  expect(storedFigures(result)).toEqual(FIGURES);
  expect(await Array.fromAsync(storedTrades(result))).toEqual([]);
});

test('other work runs after every 500 trades', async () => {
  const result = resultOf(Array.from({ length: 2_000 }, (_, n) => ({ market_id: `0x${n}` })));
  const trades = storedTrades(result);
  let [read, most, isOver] = [0, 0, false];
  const reading = (async () => {
    for await (const _ of trades) read++;
    isOver = true;
  })();
  for (let before = 0; !isOver; before = read) {
    await nextTurn();
    most = Math.max(most, read - before);
  }
  await reading;
  expect([read, most]).toEqual([2_000, 500]);
});
