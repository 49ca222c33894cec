import { expect, test } from 'vitest';
import { comparedRun } from './comparedResult.ts';

const RUN = { receipt: { data_hash: 'd', code_version: 'v' }, markets_skipped: [{ market_id: '0x9' }] };
const trade = (market_id: string, decided_at: number, net_pnl: number | null) => ({
  ...{ market_id, decided_at, net_pnl },
});

test('a market without a known start is placed at its first decision, in whatever order its trades come', () => {
  const trades = [trade('0x1', 200, 0.1), trade('0x1', 100, 0.2)];
  const { traded, skipped, markets } = comparedRun({ ...RUN, trades }, 'one');
  expect([...traded.values()]).toEqual([{ marketId: '0x1', timeMs: 100, pnl: 300_000 }]);
  expect([[...skipped], markets]).toEqual([['0x9'], null]);
});

test('a market with an open position has no result, whatever its closed trades earned', () => {
  const trades = [trade('0x1', 100, 0.2), trade('0x1', 300, null), trade('0x2', 100, 0)];
  const { skipped } = comparedRun({ ...RUN, trades }, 'one');
  expect([...skipped]).toEqual(['0x9', '0x1']);
});

test.each([
  ['its start', [{ market_id: '0x1', start: 50 }], 60, 50],
  ['the start that its trade names', [], 60, 60],
  ['its decision', null, null, 100],
])('a market is placed at %s', (_, markets, window_start, timeMs) => {
  const trades = [{ ...trade('0x1', 100, 1), window_start }];
  expect(comparedRun({ ...RUN, trades, markets }, 'one').traded.get('0x1')?.timeMs).toBe(timeMs);
});
