import { expect, test } from 'vitest';
import type { ClobEvent } from '../../schema/events.ts';
import { UnlistedMarketAdopter } from './unlistedMarketAdopter.ts';

const trade = (tokenId: string, receivedTimeMs: number) =>
  ({ kind: 'trade', marketId: '0x1', tokenId, receivedTimeMs }) as ClobEvent;

test('a market is adopted at the first event of its second token, and begins with its first event', () => {
  const adopter = new UnlistedMarketAdopter();
  const events = [trade('7', 10), trade('7', 20), trade('9', 30)];
  expect(events.slice(0, 2).map((event) => adopter.observe(event))).toEqual([null, null]);
  const adoption = adopter.observe(events[2]!);
  expect(adoption?.market).toMatchObject({
    ...{ marketId: '0x1', yesTokenId: '7', noTokenId: '9', startTimeMs: 10, endTimeMs: 11 },
  });
  expect(adoption?.events).toEqual(events);
  expect(adopter.adoptOneSided()).toEqual([]);
});

test.each([
  ['at the end of the recording', 3],
  ['after a thousand events', 1_000],
])('a token that the recording calls NO is not adopted as YES %s', (_, count) => {
  const adopter = new UnlistedMarketAdopter();
  const seen = Array.from({ length: count }, (_, index) => adopter.observe(trade('9', index), false));
  const [adoption] = [...seen, ...adopter.adoptOneSided()].filter((found) => found !== null);
  expect(adoption?.market).toMatchObject({ yesTokenId: 'unknown', noTokenId: '9', startTimeMs: 0 });
  expect(adoption?.events).toHaveLength(count);
});

test.each([
  ['first', [false, true]],
  ['second', [true, false]],
  ['second, after a token without a side', [null, false]],
])('the side that a recording gives decides, with NO %s', (_, sides) => {
  const adopter = new UnlistedMarketAdopter();
  const adoptions = sides.map((isYes, index) =>
    adopter.observe(trade(isYes === false ? '9' : '7', index), isYes),
  );
  expect(adoptions[1]?.market).toMatchObject({ yesTokenId: '7', noTokenId: '9' });
});

test('an event of a known market does not drop the events of the others, however many there are', () => {
  const adopter = new UnlistedMarketAdopter();
  const first = (index: number) => ({ ...trade('7', index), marketId: `0x${index}` });
  for (let index = 0; index < 10_000; index++) adopter.observe(first(index));
  expect(adopter.observe({ ...trade('9', 20_000), marketId: '0x5' })?.events).toHaveLength(2);
  expect(adopter.adoptOneSided()).toHaveLength(9_999);
  for (let index = 0; index < 10_001; index++) adopter.observe(first(index));
  // Too many to keep: only the newest is left.
  expect(adopter.adoptOneSided().map(({ market }) => market.marketId)).toEqual(['0x10000']);
  expect(adopter.adoptOneSided()).toEqual([]);
});
