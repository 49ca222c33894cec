import { expect, test } from 'vitest';
import { marketState } from '../../test/support/marketState.ts';
import { MARKET } from '../../test/support/wire.ts';
import { isShown, type OpenOpportunity, OpportunityTracker } from './opportunityTracker.ts';

/** At the money, five minutes before the end: a share is worth one half. */
const AT_THE_MONEY = { readings: { nowMs: MARKET.endTimeMs - 300_000 } };

/** YES at a bid and an ask, NO its mirror. */
function quoted(bid: number, ask: number) {
  const book = {
    yesBids: [[bid, 10]],
    yesAsks: [[ask, 20]],
    noBids: [[1 - ask, 20]],
    noAsks: [[1 - bid, 10]],
  } as const;
  return marketState(book, AT_THE_MONEY);
}
const YES_CHEAP = quoted(0.42, 0.44);
const NO_CHEAP = quoted(0.56, 0.58);
const FAIR = quoted(0.49, 0.51);

const directions = (opportunities: readonly OpenOpportunity[]) =>
  opportunities.map(({ signal }) => signal.direction);

test('a slot that turns from BUY_YES to BUY_NO without a pause begins a new episode', () => {
  const tracker = new OpportunityTracker();
  const [first] = tracker.update(YES_CHEAP);
  expect(directions(tracker.open)).toEqual(['BUY_YES']);
  const [second] = tracker.update(NO_CHEAP);
  expect(directions(tracker.open)).toEqual(['BUY_NO']);
  expect(second).not.toBe(first);
  expect([first?.signal.direction, second?.first]).toEqual(['BUY_YES', null]);
});

test('each change of direction begins an episode, a repeated direction does not', () => {
  const tracker = new OpportunityTracker();
  const begun = [YES_CHEAP, YES_CHEAP, NO_CHEAP, NO_CHEAP, YES_CHEAP].map((state) =>
    tracker.update(state).map(({ slot, signal }) => [slot, signal.direction]),
  );
  expect(begun).toEqual([[['model', 'BUY_YES']], [], [['model', 'BUY_NO']], [], [['model', 'BUY_YES']]]);
});

test('an episode continues with the newest reading in the same direction, and ends with the first state without it', () => {
  const tracker = new OpportunityTracker();
  const [begun] = tracker.update(YES_CHEAP);
  expect(tracker.update(quoted(0.41, 0.43))).toEqual([]);
  expect(tracker.open).toEqual([begun]);
  expect(begun?.signal.fillPrice).toBe(0.43);
  expect([tracker.update(FAIR), tracker.open]).toEqual([[], []]);
  expect(tracker.update(YES_CHEAP)).toHaveLength(1);
});

test('an episode is shown once its row is written, and only in the direction of that row', () => {
  const [opportunity] = new OpportunityTracker().update(YES_CHEAP) as [OpenOpportunity];
  const row = { detectedMs: 1, direction: 'BUY_YES', isAudited: true } as const;
  const shown = (first: OpenOpportunity['first']) => isShown({ ...opportunity, first });
  expect(shown(row)).toBe(true);
  expect(shown(null)).toBe(false);
  expect(shown({ ...row, isAudited: false })).toBe(false);
  expect(shown({ ...row, direction: 'BUY_NO' })).toBe(false);
});

test('an unwritten opportunity is dropped by its own kind only', () => {
  const tracker = new OpportunityTracker();
  const [opportunity] = tracker.update(YES_CHEAP) as [OpenOpportunity];
  tracker.drop('logical');
  expect(tracker.open).toEqual([opportunity]);
  tracker.drop(opportunity.tier);
  expect(tracker.open).toEqual([]);
});
