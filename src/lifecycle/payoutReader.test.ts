import { expect, test } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MARKET } from '../../test/support/wire.ts';
import { TransportError, VenueMessageError } from '../runtime/errors.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Market } from '../schema/market.ts';
import { HttpRefusedError } from '../venues/http.ts';
import type { ReportedPayout } from '../venues/polymarket/dataApi/resolutions.ts';
import { PayoutReader } from './payoutReader.ts';

const idOf = (index: number) => `0x${index.toString(16).padStart(64, '0')}`;
const market = (index: number): Market => ({ ...MARKET, marketId: idOf(index) });

function setUp() {
  const clock = new FakeClock();
  const metrics = new Metrics();
  const asked: string[][] = [];
  const paid: [string, number, number][] = [];
  const state = {
    ...{ final: [] as ReportedPayout[], fail: null as (() => Error) | null },
    pending: Promise.resolve(),
  };
  const payouts = {
    resolutions: async (ids: readonly string[]) => {
      asked.push([...ids]);
      await state.pending;
      if (state.fail !== null) throw state.fail();
      return { final: state.final, unusable: [] };
    },
  };
  const onPayout = ({ marketId }: Market, { payoutYes, timeMs }: { payoutYes: number; timeMs: number }) =>
    void paid.push([marketId, payoutYes, timeMs]);
  const reader = new PayoutReader({
    payouts,
    clock,
    random: () => 0.99,
    log: silentLogger,
    metrics,
    onPayout,
  });
  const tick = async () => {
    reader.tick();
    await clock.advance(1000);
  };
  return { clock, metrics, asked, paid, state, reader, tick };
}

test('maps the first payout by the place of Up in the listing', async () => {
  const { clock, paid, state, reader, tick } = setUp();
  const resolvedTimeMs = 1_795_000_000_000;
  state.final = [
    { marketId: idOf(1), firstPayout: 1, resolvedTimeMs },
    { marketId: idOf(2), firstPayout: 1, resolvedTimeMs },
    { marketId: idOf(3), firstPayout: 0.5, resolvedTimeMs: null },
    { marketId: idOf(9), firstPayout: 1, resolvedTimeMs },
  ];
  reader.add(market(1), 0);
  reader.add(market(2), 1);
  reader.add(market(3), 1);
  const nowMs = clock.now();
  await tick();
  expect(paid).toEqual([
    [idOf(1), 1, resolvedTimeMs],
    [idOf(2), 0, resolvedTimeMs],
    [idOf(3), 0.5, nowMs],
  ]);
});

test('requests at most 20 markets at a time, each once for each time it was added', async () => {
  const { asked, reader, tick } = setUp();
  for (let index = 0; index < 45; index++) reader.add(market(index), 0);
  reader.add(market(7), 0);
  for (let turn = 0; turn < 5; turn++) await tick();
  expect(asked.map((ids) => ids.length)).toEqual([20, 20, 5]);
  expect(new Set(asked.flat()).size).toBe(45);
});

test('sends one request at a time', async () => {
  const { clock, asked, state, reader } = setUp();
  let answer = () => {};
  state.pending = new Promise<void>((resolve) => {
    answer = resolve;
  });
  reader.add(market(1), 0);
  reader.tick();
  reader.add(market(2), 0);
  reader.tick();
  await clock.advance(60_000);
  reader.tick();
  expect(asked).toEqual([[idOf(1)]]);
  answer();
  await clock.advance(0);
  reader.tick();
  expect(asked).toEqual([[idOf(1)], [idOf(2)]]);
});

test('never requests a market whose id the interface refuses', async () => {
  const { asked, reader, tick } = setUp();
  reader.add({ ...MARKET, marketId: `0x${'ab'.repeat(31)}` }, 0);
  await tick();
  expect(asked).toEqual([]);
});

test.each([
  ['a lost connection', () => new TransportError('down'), 3],
  ['a refusal that may be repeated', () => refusal(503, '{"error":"x","code":"busy","retryable":true}'), 3],
  ['too many requests', () => refusal(429, 'slow down'), 3],
  ['a refusal for good', () => refusal(400, '{"error":"x","code":"invalid_request","retryable":false}'), 1],
  ['an answer that cannot be read', () => new VenueMessageError('no list'), 1],
])('repeats a market after %s at most so often', async (_shows, fail, tries) => {
  const { clock, metrics, asked, state, reader, tick } = setUp();
  state.fail = fail;
  expect(reader.isAvailable).toBe(true);
  reader.add(market(1), 0);
  for (let second = 0; second < 600; second++) await tick();
  expect(asked).toHaveLength(tries);
  expect(reader.isAvailable).toBe(false);
  expect(await metrics.registry.metrics()).toContain(
    `underround_payouts_asked_total{outcome="failed"} ${tries}`,
  );
  state.fail = null;
  reader.add(market(1), 0);
  await clock.advance(60_000);
  await tick();
  expect(reader.isAvailable).toBe(true);
});

test('waits as long as the venue asks', async () => {
  const { asked, state, reader, tick } = setUp();
  state.fail = () => new HttpRefusedError('slow', { status: 429, excerpt: '', retryAfterMs: 30_000 });
  reader.add(market(1), 0);
  for (let second = 0; second < 30; second++) await tick();
  expect(asked).toHaveLength(1);
  await tick();
  expect(asked).toHaveLength(2);
});

test('reports nothing after its end', async () => {
  const { paid, state, reader, clock } = setUp();
  state.final = [{ marketId: idOf(1), firstPayout: 1, resolvedTimeMs: 1 }];
  reader.add(market(1), 0);
  reader.tick();
  reader.stop();
  await clock.advance(1000);
  expect(paid).toEqual([]);
});

function refusal(status: number, excerpt: string): HttpRefusedError {
  return new HttpRefusedError('refused', { status, excerpt, retryAfterMs: null });
}
