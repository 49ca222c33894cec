import { expect, test } from 'vitest';
import { bookRecord } from '../../../test/support/api.ts';
import { START_MS, TAPE_MARKET } from '../../../test/support/tapes.ts';
import { TAPE_AFTER_MS, TAPE_BEFORE_MS } from '../../core/session/tape.ts';
import { compileStrategy } from '../../core/strategies/compile.ts';
import { PaperMarket } from './paperMarket.ts';
import { PaperSession } from './paperSession.ts';
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

test('a gap that is reported again after its end is not counted again', () => {
  const { market, book } = rig();
  const { rows } = market.viewOf(strategyOf(10));
  const gap = { id: 1, startMs: START_MS + 1_000, knownMs: START_MS + 2_000, endMs: START_MS + 3_000 };
  applyGap(market, gap);
  book(4_000);
  const trusted = [rows.trusted[0]];
  applyGap(market, gap);
  trusted.push(rows.trusted[0]);
  expect(trusted).toEqual([1, 1]);
});

test('a fee that is corrected applies to the fills after it', () => {
  const { market } = rig();
  const { rules } = market.viewOf(strategyOf(10));
  const feeAt = (takerFeeRate: number) => {
    market.update({ ...TAPE_MARKET, takerFeeRate, takerFeeExponent: 1 });
    return rules?.fee(START_MS).charged({ price: 5_000, size: 100 * SHARE });
  };
  expect([0.04, 0.08].map(feeAt)).toEqual([1_000_000, 2_000_000]);
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

/** A market, and functions that give it what the recorder published. */
function rig() {
  const market = new PaperMarket(TAPE_MARKET, (_, error) => {
    throw error;
  });
  let seq = 0;
  const book = (at: number, ask = 5_000, trusted = true) => {
    const levels = { yesBids: [[1_000, SHARE]], yesAsks: [[ask, 100 * SHARE]] } as const;
    const ids = { seq: ++seq, marketId: TAPE_MARKET.marketId, timeMs: START_MS + at };
    market.book(bookRecord({ ...ids, ...levels, trusted }));
  };
  const price = (at: number) => {
    const timeMs = START_MS + at;
    market.price({ seq: ++seq, eventMs: timeMs, receivedMs: timeMs, price: 97_000 });
  };
  const quote = (at: number, yesAsk: number) => {
    const times = { eventTimeMs: START_MS + at, receivedTimeMs: START_MS + at };
    const best = { yesBid: 1_000, yesAsk, noBid: 10_000 - yesAsk, noAsk: 9_000 };
    const ids = { seq: ++seq, marketId: TAPE_MARKET.marketId, yesChanged: true, trusted: true };
    market.quote({ ...ids, ...times, ...best, underlyingPrice: null });
  };
  return { market, book, price, quote };
}

test('a gap whose end is reported twice ends once: another one stays open', () => {
  const { market, book } = rig();
  const { rows } = market.viewOf(strategyOf(10));
  book(1_000);
  for (const id of [1, 2]) market.gapDetected({ id, startMs: START_MS + 2_000, knownMs: START_MS + 3_000 });
  for (let n = 0; n < 2; n++) market.gapEnded({ id: 1, endMs: START_MS + 4_000 });
  book(5_000, 5_001);
  expect(rows.trusted[0]).toBe(0);
  market.gapEnded({ id: 2, endMs: START_MS + 6_000 });
  book(7_000, 5_002);
  expect(rows.trusted[0]).toBe(1);
});

test('the latest end of a gap counts for a strategy that joins, also if an earlier end is reported after it', () => {
  const { market, book, quote } = rig();
  market.viewOf(strategyOf(10));
  const known = { startMs: START_MS + 1_000, knownMs: START_MS + 2_000 };
  for (const id of [1, 2]) market.gapDetected({ id, ...known });
  book(3_000);
  market.gapEnded({ id: 1, endMs: START_MS + 5_000 });
  // A price passes the first end, and another the second.
  market.viewOf(pricedStrategy());
  const point = (at: number) => ({
    seq: at,
    eventMs: START_MS + at,
    receivedMs: START_MS + at,
    price: 97_000,
  });
  market.price(point(5_500));
  market.gapEnded({ id: 2, endMs: START_MS + 2_500 });
  market.price(point(6_000));
  const late = market.viewOf(strategyOf(5_000));
  expect(late.rows.trusted[0]).toBe(0);
  quote(7_000, 5_010);
  expect(late.rows.trusted[0]).toBe(1);
});

/** A strategy that gets rows for prices of the underlying. */
function pricedStrategy() {
  const compiled = compileStrategy({
    ...{ type: 'condition_based', side: 'buy_yes', take_profit: [], stop_loss: [], max_trades_per_market: 1 },
    entry: [{ metric: 'underlying_move_usd', operator: 'above', value: 1 }],
  });
  return { ...strategyOf(10), compiled };
}

test('the recording of a window ends before the prices that arrive a minute after it', () => {
  const { market, price } = rig();
  const { rows } = market.viewOf(pricedStrategy());
  const endMs = TAPE_MARKET.endTimeMs + TAPE_AFTER_MS;
  price(endMs - START_MS - 1);
  price(endMs - START_MS);
  expect(rows.timeMs[0]).toBe(endMs - 1);
});

test('a price from before the window makes no row', () => {
  const { market, book, price } = rig();
  const { rows } = market.viewOf(pricedStrategy());
  book(-5_000);
  const rowMs = rows.timeMs[0];
  price(-1_000);
  expect(rows.timeMs[0]).toBe(rowMs);
  price(0);
  expect(rows.timeMs[0]).toBe(START_MS);
});

test('a price older than the recording of the window makes no row, though it arrives in the window', () => {
  const { market } = rig();
  const { rows } = market.viewOf(pricedStrategy());
  const firstMs = START_MS - TAPE_BEFORE_MS;
  market.price({ seq: 1, eventMs: firstMs, receivedMs: START_MS + 1_000, price: 97_000 });
  market.price({ seq: 2, eventMs: firstMs - 1, receivedMs: START_MS + 2_000, price: 97_000 });
  expect(rows.timeMs[0]).toBe(START_MS + 1_000);
});

test('a strategy that joins has the newest best prices, if they are newer than the newest book', () => {
  const { market, book, quote } = rig();
  book(1_000, 5_000);
  quote(1_500, 4_900);
  expect(market.viewOf(strategyOf(10)).rows.yesAsk[0]).toBe(4_900);
  book(2_000, 4_800);
  expect(market.viewOf(strategyOf(5_000)).rows.yesAsk[0]).toBe(4_800);
});

test('a strategy that joins after a book that repeats the one before sees it', () => {
  const { market, book } = rig();
  for (const [at, ask] of [5_000, 5_001, 5_002, 5_002].entries()) book(1_000 * (at + 1), ask);
  expect(market.viewOf(strategyOf(10)).rows.yesAsk[0]).toBe(5_002);
});

test('best prices received after the end of a gap end it', () => {
  const { market, book, quote } = rig();
  const { rows } = market.viewOf(strategyOf(10));
  book(1_000);
  market.gapDetected({ id: 1, startMs: START_MS + 2_000, knownMs: START_MS + 3_000 });
  market.gapEnded({ id: 1, endMs: START_MS + 4_000 });
  quote(5_000, 5_010);
  expect(rows.trusted[0]).toBe(1);
});

test('a gap that is detected minutes after the end reverses the fills made in it', () => {
  const { market, book } = rig();
  const strategy = { ...strategyOf(10), activeFromMs: START_MS };
  const compiled = compileStrategy({
    type: 'threshold_entry',
    threshold: 0.6,
    direction: 'below',
    side: 'buy_yes',
  });
  const own = { ...strategy, compiled };
  const changes: number[] = [];
  const session = new PaperSession(own, market.viewOf(own), {
    fromMs: START_MS,
    changed: ({ trades }) => changes.push(trades.length),
  });
  market.addAll([session]);
  for (const [at, ask] of [5_000, 5_001, 5_002].entries()) book(1_000 * (at + 1), ask);
  expect(session.trades).toHaveLength(1);
  const knownMs = TAPE_MARKET.endTimeMs + 600_000;
  market.gapDetected({ id: 1, startMs: START_MS + 500, knownMs });
  expect(session.trades).toEqual([]);
  expect(changes).toHaveLength(2);
});

test('a strategy whose purchases rest buys nothing from the asks', () => {
  const { market, book } = rig();
  const compiled = compileStrategy({
    type: 'threshold_entry',
    threshold: 0.6,
    direction: 'below',
    side: 'buy_yes',
  });
  const resting = { entry: 'maker', offset: 0, timeout_s: 60, queue_model: 'optimistic' } as const;
  const sessions = [undefined, resting].map((execution) => {
    const own = { ...strategyOf(10), compiled, execution };
    return new PaperSession(own, market.viewOf(own), { fromMs: START_MS, changed: () => undefined });
  });
  market.addAll(sessions);
  for (const [at, ask] of [5_000, 5_001, 5_002].entries()) book(1_000 * (at + 1), ask);
  expect(sessions.map(({ trades }) => trades.length)).toEqual([1, 0]);
});
