import { expect, test } from 'vitest';
import { bookRecord } from '../../../test/support/api.ts';
import { START_MS, TAPE_MARKET } from '../../../test/support/tapes.ts';
import { TAPE_BEFORE_MS } from '../../core/session/tape.ts';
import { compileStrategy } from '../../core/strategies/compile.ts';
import { type CompiledStrategy, WAIT } from '../../core/strategies/strategy.ts';
import type { Strategy } from '../../schema/strategy.ts';
import { PaperSession } from './paperSession.ts';
import { type OnBroken, SessionGroup } from './sessionGroup.ts';

const SHARE = 1_000_000;

const BELOW: Strategy = { type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' };
const CROSSES_BELOW: Strategy = {
  ...{ type: 'condition_based', side: 'buy_yes', take_profit: [], stop_loss: [], max_trades_per_market: 1 },
  entry: [{ metric: 'token_price', operator: 'crosses_below', value: 0.3 }],
};

const failing: OnBroken = (_, error) => {
  throw error;
};

/** A market with one session, and a function that shows it an ask. */
function oneSession(wanted: Strategy | CompiledStrategy, fromMs = START_MS, onBroken: OnBroken = failing) {
  const group = new SessionGroup(TAPE_MARKET, { underlying: null, depth: 10, onBroken });
  const compiled = 'start' in wanted ? wanted : compileStrategy(wanted);
  const strategy = {
    ...{ strategyId: 'ps_1', series: 'BTC 5m', compiled, size: 10 * SHARE, activeFromMs: START_MS },
    entries: { untilMs: Number.POSITIVE_INFINITY },
  };
  const { rows, ladders } = group.live;
  const market = { market: TAPE_MARKET, rows, ladders };
  const paper = new PaperSession(strategy, market, { fromMs, changed: () => undefined });
  group.addAll([paper]);
  let seq = 0;
  const book = (at: number, ask: number, trusted = true) => {
    const levels = { yesBids: [[1_000, SHARE]], yesAsks: [[ask, 100 * SHARE]] } as const;
    const ids = { seq: ++seq, marketId: TAPE_MARKET.marketId, timeMs: START_MS + at };
    if (group.live.book(bookRecord({ ...ids, ...levels, trusted }))) group.step();
  };
  return { group, paper, book };
}

/** A session that waits for an ask below 0.3, and sees only rows that may reach it. */
function sleepingSession() {
  const rig = oneSession(BELOW);
  for (const at of [1_000, 2_000]) rig.book(at, 5_000 + at / 1_000);
  return rig;
}

test('a session sees a crossing between its first two rows', () => {
  const { paper, book } = oneSession(CROSSES_BELOW);
  for (const [at, ask] of [5_000, 2_500, 2_501, 2_502].entries()) book(1_000 * (at + 1), ask);
  expect(paper.trades).toMatchObject([{ decidedMs: START_MS + 2_040 }]);
});

test('a sleeping session sees no crossing from a row that was not trusted', () => {
  const { paper, book } = oneSession(CROSSES_BELOW);
  for (const [at, ask] of [5_000, 5_001, 5_002].entries()) book(1_000 * (at + 1), ask);
  book(4_000, 3_500, false);
  for (const [at, ask] of [2_900, 2_901, 2_902].entries()) book(5_000 + 1_000 * at, ask);
  expect(paper.trades).toEqual([]);
  for (const [at, ask] of [3_500, 2_900, 2_901, 2_902].entries()) book(8_000 + 1_000 * at, ask);
  expect(paper.trades).toMatchObject([{ decidedMs: START_MS + 9_040 }]);
});

test.each([
  [3_040, 3_040],
  [3_041, 4_040],
])('a session that begins at %i ms decides on the row of %i ms', (fromMs, decidedMs) => {
  const { paper, book } = oneSession(BELOW, START_MS + fromMs);
  for (const [at, ask] of [2_500, 2_501, 2_502, 2_503, 2_504].entries()) book(1_000 * (at + 1), ask);
  expect(paper.trades).toMatchObject([{ decidedMs: START_MS + decidedMs }]);
});

test('a session sees no crossing from a row before its beginning', () => {
  const { paper, book } = oneSession(CROSSES_BELOW, START_MS + 2_500);
  for (const [at, ask] of [5_000, 5_001, 2_500, 2_501, 2_502].entries()) book(1_000 * (at + 1), ask);
  expect(paper.trades).toEqual([]);
});

test.each([
  ['stays on the market buys', true, 1],
  ['was removed from the market sees nothing', false, 0],
])('a session that %s when its threshold is reached', (_, stays, bought) => {
  const { group, paper, book } = sleepingSession();
  group.keep(() => stays);
  book(3_000, 2_500);
  // Not idle: its order is in flight.
  expect(paper.session.isIdle).toBe(!stays);
  book(4_000, 2_501);
  book(5_000, 2_502);
  expect([...group.sessions]).toHaveLength(bought);
  expect(paper.trades).toHaveLength(bought);
});

test('a sleeping session that a gap awakens sees nothing once it was removed from the market', () => {
  const { group, paper, book } = sleepingSession();
  const [startMs, knownMs] = [START_MS + 2_500, START_MS + 2_600];
  group.live.gapDetected({ startMs, knownMs });
  group.stepAll();
  group.live.gapEnded(START_MS + 2_900);
  group.stepAll();
  for (const at of [3_000, 4_000]) book(at, 5_000 + at / 1_000);
  group.keep(() => false);
  book(5_000, 2_500);
  expect(paper.session.isIdle).toBe(true);
});

test('a session that fails on the row that wakes it is reported once', () => {
  const compiled = compileStrategy(BELOW);
  const broken: unknown[] = [];
  const start: typeof compiled.start = (...given) => {
    const own = compiled.start(...given);
    const decide: typeof own.decide = (...row) => {
      const intent = own.decide(...row);
      if (intent !== WAIT) throw new Error('a fault of the strategy');
      return intent;
    };
    return { crossings: [], decide };
  };
  const { group, book } = oneSession({ ...compiled, start }, START_MS, (session) => broken.push(session));
  for (const [at, ask] of [5_000, 5_001, 2_500, 2_501].entries()) book(1_000 * (at + 1), ask);
  expect([broken.length, [...group.sessions]]).toEqual([1, []]);
});

test('a book that repeats the one before is a row only where the tape of the market begins', () => {
  const { group } = oneSession(BELOW);
  const levels = { yesBids: [[1_000, SHARE]], yesAsks: [[5_000, SHARE]] } as const;
  const isRow = (timeMs: number, seq: number) =>
    group.live.book(bookRecord({ seq, marketId: TAPE_MARKET.marketId, timeMs, ...levels }));
  const beginMs = START_MS - TAPE_BEFORE_MS - 40;
  const times = [beginMs - 2, beginMs - 1, beginMs, beginMs + 1, START_MS - 41, START_MS - 40, START_MS];
  expect(times.map(isRow)).toEqual([true, false, true, false, false, false, false]);
});

test('a sleeping session sees the first row of the window', () => {
  const { paper, book } = oneSession(BELOW, START_MS - 10_000);
  // Received 40 ms later.
  for (const at of [-3_000, -2_000, -1_000]) book(at, 5_000 - at);
  for (const [at, ask] of [
    [-40, 2_500],
    [1_000, 2_501],
    [2_000, 2_502],
  ] as const)
    book(at, ask);
  expect(paper.trades).toMatchObject([{ decidedMs: START_MS }]);
});

test.each([
  ['within a minute of the end confirms an order', 59_999, 1],
  ['a minute after the end confirms no order', 60_000, 0],
])('a book received %s', (_, afterMs, bought) => {
  const { paper, book } = oneSession(BELOW);
  const { endTimeMs } = TAPE_MARKET;
  book(1_000, 5_000);
  book(endTimeMs - START_MS - 1_000, 2_500);
  book(endTimeMs - START_MS + afterMs - 40, 2_501);
  expect(paper.trades).toHaveLength(bought);
});
