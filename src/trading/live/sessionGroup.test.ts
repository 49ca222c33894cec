import { expect, test } from 'vitest';
import { bookRecord } from '../../../test/support/api.ts';
import { START_MS, TAPE_MARKET } from '../../../test/support/tapes.ts';
import { compileStrategy } from '../../core/strategies/compile.ts';
import { PaperSession } from './paperSession.ts';
import { SessionGroup } from './sessionGroup.ts';

const SHARE = 1_000_000;

/** A market with one session that waits for an ask below 0.3, and sees only rows that may reach it. */
function sleepingSession() {
  const group = new SessionGroup(TAPE_MARKET, {
    ...{ underlying: null, depth: 10 },
    onBroken: (_, error) => {
      throw error;
    },
  });
  const compiled = compileStrategy({
    ...{ type: 'threshold_entry', threshold: 0.3, direction: 'below', side: 'buy_yes' },
  });
  const strategy = {
    ...{ strategyId: 'ps_1', series: 'BTC 5m', compiled, size: 10 * SHARE, activeFromMs: START_MS },
    entries: { untilMs: Number.POSITIVE_INFINITY },
  };
  const { rows, ladders } = group.live;
  const market = { market: TAPE_MARKET, rows, ladders };
  const paper = new PaperSession(strategy, market, { fromMs: START_MS, changed: () => undefined });
  group.addAll([paper]);
  let seq = 0;
  const book = (at: number, ask: number) => {
    const levels = { yesBids: [[1_000, SHARE]], yesAsks: [[ask, 100 * SHARE]] } as const;
    const ids = { seq: ++seq, marketId: TAPE_MARKET.marketId, timeMs: START_MS + at };
    if (group.live.book(bookRecord({ ...ids, ...levels }))) group.step();
  };
  for (const at of [1_000, 2_000]) book(at, 5_000 + at / 1_000);
  return { group, paper, book };
}

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
