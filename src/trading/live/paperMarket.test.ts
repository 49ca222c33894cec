import { expect, test } from 'vitest';
import { bookRecord } from '../../../test/support/api.ts';
import { START_MS, TAPE_MARKET } from '../../../test/support/tapes.ts';
import { compileStrategy } from '../../core/strategies/compile.ts';
import { PaperMarket } from './paperMarket.ts';
import type { PaperSession } from './paperSession.ts';
import { applyGap } from './recordBuffer.ts';

const SHARE = 1_000_000;

/** A strategy of a size: another size reads books of another depth, so it gets rows of its own. */
function strategyOf(sizeUsd: number) {
  const compiled = compileStrategy({
    ...{ type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  });
  const shared = { series: 'BTC 5m', activeFromMs: START_MS, entries: { untilMs: Number.POSITIVE_INFINITY } };
  return { ...shared, strategyId: `ps_${sizeUsd}`, compiled, size: sizeUsd * 1_000_000 };
}

test('a strategy added after a gap ended trusts no book from before the gap, like a strategy that saw the gap', () => {
  const market = new PaperMarket(TAPE_MARKET, (_, error) => {
    throw error;
  });
  const early = market.viewOf(strategyOf(10));
  let seq = 0;
  const book = (at: number, ask: number) => {
    const levels = { yesBids: [[1_000, SHARE]], yesAsks: [[ask, 100 * SHARE]] } as const;
    const ids = { seq: ++seq, marketId: TAPE_MARKET.marketId, timeMs: START_MS + at };
    market.book(bookRecord({ ...ids, ...levels }));
  };
  book(1_000, 5_000);
  market.gapDetected({ id: 1, startMs: START_MS + 2_000, knownMs: START_MS + 3_000 });
  market.gapEnded({ id: 1, endMs: START_MS + 4_000 });
  const point = { seq: ++seq, eventMs: START_MS + 5_000, receivedMs: START_MS + 5_000, price: 97_000 };
  market.price(point);
  const late = market.viewOf(strategyOf(5_000));
  expect(late.rows).not.toBe(early.rows);
  expect([early.rows.trusted[0], late.rows.trusted[0]]).toEqual([0, 0]);
  book(6_000, 5_100);
  expect([early.rows.trusted[0], late.rows.trusted[0]]).toEqual([1, 1]);
});

test('a strategy added between the end of a gap and the first record after it trusts no book until then', () => {
  const market = new PaperMarket(TAPE_MARKET, (_, error) => {
    throw error;
  });
  const early = market.viewOf(strategyOf(10));
  const book = (seq: number, at: number) => {
    const levels = { yesBids: [[1_000, SHARE]], yesAsks: [[5_000 + seq, 100 * SHARE]] } as const;
    market.book(bookRecord({ ...levels, seq, marketId: TAPE_MARKET.marketId, timeMs: START_MS + at }));
  };
  book(1, 1_000);
  market.gapDetected({ id: 1, startMs: START_MS + 2_000, knownMs: START_MS + 3_000 });
  market.gapEnded({ id: 1, endMs: START_MS + 4_000 });
  const late = market.viewOf(strategyOf(5_000));
  book(2, 3_500);
  expect([early.rows.trusted[0], late.rows.trusted[0]]).toEqual([0, 0]);
  book(3, 4_500);
  expect([early.rows.trusted[0], late.rows.trusted[0]]).toEqual([1, 1]);
});

test('a gap whose start several collectors moved ends as one gap', () => {
  const market = new PaperMarket(TAPE_MARKET, (_, error) => {
    throw error;
  });
  const { rows } = market.viewOf(strategyOf(10));
  const book = (seq: number, at: number) => {
    const levels = { yesBids: [[1_000, SHARE]], yesAsks: [[5_000 + seq, 100 * SHARE]] } as const;
    market.book(bookRecord({ ...levels, seq, marketId: TAPE_MARKET.marketId, timeMs: START_MS + at }));
  };
  book(1, 1_000);
  const opened = { id: 2, knownMs: START_MS + 3_000, endMs: null };
  applyGap(market, { ...opened, startMs: START_MS + 1_000 });
  applyGap(market, { ...opened, startMs: START_MS + 2_000 });
  applyGap(market, { ...opened, startMs: START_MS + 2_000, endMs: START_MS + 4_000 });
  book(3, 5_000);
  expect(rows.trusted[0]).toBe(1);
});

test('a trade has whole units, like one of a recording', () => {
  const market = new PaperMarket(TAPE_MARKET, (_, error) => {
    throw error;
  });
  const sizes: number[] = [];
  const session = { isDone: false, trade: ({ size }: { size: number }) => sizes.push(size) };
  market.addAll([{ strategy: strategyOf(10), fromMs: START_MS, session } as unknown as PaperSession]);
  const times = { eventTimeMs: START_MS + 1_000, receivedTimeMs: START_MS + 1_040 };
  for (const size of [SHARE + 0.4, SHARE + 0.6])
    market.trade({ seq: 1, marketId: TAPE_MARKET.marketId, side: 'SELL_YES', price: 4_800, size, ...times });
  expect(sizes).toEqual([SHARE, SHARE + 1]);
});
