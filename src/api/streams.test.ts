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

/** Opens a stream; the messages of its beginning, and what its connection was added to. */
function begin(path: string, query: object = {}) {
  const [answers, added]: [unknown[], unknown[]] = [[], []];
  const connection = { answer: (text: string) => answers.push(JSON.parse(text)) };
  const facts: { stream?: string } = {};
  const streams = {
    connections: {
      isClosing: false,
      count: () => 0,
      open: (_upgraded: unknown, { stream, serve }: { stream: string; serve: (one: object) => void }) => {
        facts.stream = stream;
        serve(connection);
      },
    },
    markets: { add: (...given: unknown[]) => added.push(given.slice(1)) },
    opportunities: { add: (...given: unknown[]) => added.push(given.slice(1)) },
  } as unknown as StreamHub;
  const tickers = ['BTC', 'ETH', 'SOL'] as const;
  const parts = { streams, signals: silentSignals, clock: new FakeClock(1_795_176_010_000), tickers };
  const route = streamRoutes(parts).find((one) => one.path === path);
  const request = { identity: IDENTITY, limits: DEFAULT_TIERS.premium, path: {}, query };
  const answer = route?.handle(request as unknown as RawRequest) as { upgrade?: (socket: object) => void };
  answer.upgrade?.({});
  return { answers, added, stream: facts.stream, access: route?.access, auth: route?.auth };
}

test('the stream of markets begins with the tier and the time of the server', () => {
  const server_time = '2026-11-20T12:00:10.000+00:00';
  expect(begin('/v1/stream')).toEqual({
    ...{ answers: [{ type: 'ready', tier: IDENTITY.tier, server_time }], added: [[]], stream: 'market' },
    ...{ access: { feature: 'stream' }, auth: 'key' },
  });
});

test('the stream of opportunities has the tickers that are asked for, in the order of the service, or all', () => {
  const opened = (asked: string | null) => begin('/v1/arb/ws', asked === null ? {} : { ticker: asked });
  const ready = { type: 'ready', tier: IDENTITY.tier };
  expect(opened('SOL,BTC')).toEqual({
    ...{ answers: [{ ...ready, ticker_filter: ['BTC', 'SOL'] }], added: [[['BTC', 'SOL']]] },
    ...{ stream: 'opportunity', access: { feature: 'arb_ws' }, auth: 'key' },
  });
  expect(opened(null).added).toEqual([[['BTC', 'ETH', 'SOL']]]);
});
