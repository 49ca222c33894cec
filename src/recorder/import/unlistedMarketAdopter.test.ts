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
