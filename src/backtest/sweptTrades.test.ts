import { expect, test } from 'vitest';
import { START_MS } from '../../test/support/tapes.ts';
import { Random } from '../core/random.ts';
import type { Trade } from '../core/session/position.ts';
import { NO_ORDERS } from '../core/session/sessionEvents.ts';
import { type MarketResult, summarize, tradeFigures } from '../core/session/summary.ts';
import type { TapeMarket } from '../core/session/tape.ts';
import type { MarketSweep } from './marketReplay.ts';
import { cellTrades } from './sweptTrades.ts';

const CELLS = 7;
const TRADE: Omit<Trade, 'closedMs' | 'pnl'> = {
  ...{ token: 'yes', decidedMs: 0, openedMs: 0, size: 1, entryPrice: 0.5, exitPrice: null, exitReason: null },
  ...{ principal: 0, fees: 0, decisionPrice: 0.5, entrySlippage: 0, exitSlippage: null },
  ...{ entryLevels: 1, exitLevels: null },
};

type Result = Pick<Trade, 'closedMs' | 'pnl'> & { readonly pnl: number; readonly closedMs: number };

function flat(cells: readonly (readonly Result[])[]): MarketSweep {
  const trades = cells.flat();
  const offsets = new Uint32Array(cells.length + 1);
  for (const [at, results] of cells.entries()) offsets[at + 1] = (offsets[at] as number) + results.length;
  return {
    ...{ skipped: null, coverage: 1, offsets },
    closedMs: Float64Array.from(trades, ({ closedMs }) => closedMs),
    pnl: Float64Array.from(trades, ({ pnl }) => pnl),
  };
}

test("a sweep's cell reports the same figures as a backtest of the same trades", () => {
  for (let seed = 0; seed < 50; seed++) {
    const random = new Random(`swept ${seed}`);
    const whole = (below: number) => Math.floor(random.next() * below);
    // Windows overlap in time, so trades of one market close between those of another, some at the same time.
    const markets = Array.from({ length: 9 }, (_, market) =>
      Array.from({ length: CELLS }, () =>
        Array.from(
          { length: whole(4) },
          (_, at): Result => ({
            closedMs: START_MS + (market + 2 * at) * 1_000 + whole(3) * 500,
            pnl: whole(3_000_000) - 1_500_000,
          }),
        ),
      ),
    );
    const cut = 1 + whole(CELLS - 1);
    const ranges = markets.map((cells) => [flat(cells.slice(0, cut)), flat(cells.slice(cut))]);
    for (let cell = 0; cell < CELLS; cell++) {
      const results = markets.map(
        (cells, at): MarketResult => ({
          market: { ...MARKET, startTimeMs: START_MS + at, endTimeMs: START_MS + at + 1 },
          coverage: 1,
          replay: {
            ...REPLAYED,
            trades: (cells[cell] as Result[]).map((result) => ({ ...TRADE, ...result })),
          },
        }),
      );
      const { pnls, marketPnls, tradedPnls } = cellTrades(ranges, cell);
      expect(summarize(results, 10), `seed ${seed}, cell ${cell}`).toMatchObject(tradeFigures(pnls));
      const sums = results.map(
        ({ replay }) => replay.trades.reduce((sum, { pnl }) => sum + (pnl ?? 0), 0) / 1e6,
      );
      expect(marketPnls).toEqual(sums);
      expect(tradedPnls).toEqual(sums.filter((_, at) => markets[at]?.[cell]?.length !== 0));
    }
  }
});

test('a cell beyond the last does not exist', () => {
  expect(() => cellTrades([[flat([[], []])]], 2)).toThrow(new RangeError('no cell 2'));
});

const REPLAYED = { skipped: null, orders: NO_ORDERS };
const MARKET: Omit<TapeMarket, 'startTimeMs' | 'endTimeMs'> = {
  ...{ marketId: '0x1', ticker: 'BTC', eventType: '5m', strikePrice: null, strikeKnownTimeMs: null },
  ...{ takerFeeRate: null, takerFeeExponent: null, takerDelayMs: null, twapLookbackSeconds: null },
  decidingFeed: null,
};
