import { expect, test } from 'vitest';
import { IDENTITY, silentSignals } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { DEFAULT_TIERS } from '../accounts/users/tiers.ts';
import { RequestRefusedError } from '../http/refusal.ts';
import type { RawRequest } from '../http/route.ts';
import { DEFAULT_TICKERS } from '../schema/market.ts';
import type { Tier } from '../schema/tier.ts';
import type { StreamHub } from '../stream/streamHub.ts';
import { streamRoutes } from './streams.ts';

/** The status of the response to a user who opens another board. @param open Boards that the user has open. */
async function statusAt(open: number, tier: Tier) {
  const streams = { connections: { isClosing: false, count: () => open } } as unknown as StreamHub;
  const parts = { streams, signals: silentSignals, clock: new FakeClock(), tickers: DEFAULT_TICKERS };
  const board = streamRoutes(parts).find(({ path }) => path === '/app/arb/board');
  const request = { identity: { ...IDENTITY, tier }, limits: DEFAULT_TIERS[tier], path: {}, query: {} };
  try {
    return (await board?.handle(request as unknown as RawRequest))?.status;
  } catch (error) {
    if (error instanceof RequestRefusedError) return error.status;
    throw error;
  }
}

test.each([
  ['free', 4],
  ['plus', 5],
  ['premium', 20],
] as const)('a user of tier %s has at most %i boards open', async (tier, most) => {
  expect(await statusAt(most - 1, tier)).toBe(426);
  expect(await statusAt(most, tier)).toBe(429);
});
