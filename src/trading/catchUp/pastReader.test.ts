import { expect, onTestFinished, test } from 'vitest';
import { RESOLVED_UP, TradedMarket } from '../../../test/paper/tradedMarket.ts';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { oneClock } from '../../../test/support/gaps.ts';
import { marketOf, NOTHING_RECORDED } from '../../../test/support/paperRig.ts';
import { STRATEGIES } from '../../../test/support/strategies.ts';
import { END_MS, randomTape, TapeWriter } from '../../../test/support/tapes.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../../controlDatabase.ts';
import type { Clock } from '../../runtime/clock.ts';
import { TooMuchDataError } from '../../runtime/errors.ts';
import { type Logger, silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { Market } from '../../schema/market.ts';
import type { TraderEffect } from '../live/traderEffects.ts';
import type { Stretch, TraderEvent } from '../live/traderEvents.ts';
import { PastReader } from './pastReader.ts';
import type { Recording } from './recording.ts';

async function begin(seed: string) {
  const db = await openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null });
  onTestFinished(() => db.destroy());
  return new TradedMarket(db, randomTape(seed, { books: 1_200, levels: 6, gaps: false }));
}

test('a market too large to be read is abandoned at once, is logged, and keeps its positions unchanged', async () => {
  const traded = await begin('large');
  await traded.begin();
  await traded.strategy('holder', STRATEGIES.time_before_resolution!);
  traded.publishTo(0.7);
  await traded.end();
  const held = await traded.positions();
  expect(held.map(({ closed_ms }) => closed_ms)).toEqual([null]);

  const metrics = new Metrics();
  const lines: unknown[] = [];
  const log = { ...silentLogger, error: (...line: unknown[]) => void lines.push(line) } as unknown as Logger;
  let reads = 0;
  const stretch = () => {
    reads++;
    return Promise.reject(new TooMuchDataError('more than 20000000 levels'));
  };
  await traded.begin({ stretch }, { log, metrics });
  await traded.rig.trading.settled();
  traded.publishTo(1);
  traded.correct({ tickSize: 10 });
  traded.correct(RESOLVED_UP);
  traded.clock.nowMs = END_MS + 600_000;
  await traded.end();
  expect(lines).toEqual([[{ marketId: '0xtape' }, 'paper.market_given_up']]);
  expect(reads).toBe(1);
  const count = await metrics.registry.getSingleMetricAsString('underround_paper_markets_given_up_total');
  expect(count).toContain('underround_paper_markets_given_up_total 1');
  expect(await traded.positions()).toEqual(held);

  // The next start tries again.
  await traded.begin();
  await traded.end();
  expect((await traded.positions()).map(({ exit_reason }) => exit_reason)).toEqual(['resolved']);
});

test('records published while the past is read are read too if the buffer overflows', async () => {
  const [alone, flooded] = [await begin('flood'), await begin('flood')];
  const strategy = STRATEGIES['condition_based on the book']!;
  for (const traded of [alone, flooded]) {
    await traded.begin();
    await traded.strategy('dealer', strategy);
    traded.publishTo(0.4);
    await traded.end();
  }
  let reads = 0;
  const { marketId } = flooded.market;
  await flooded.begin({
    stretch: async (_market, { afterSeq }) => {
      const read = flooded.recorded(afterSeq);
      if (reads++ > 0) return read;
      // Recorded after what was read, and more than a buffer holds.
      flooded.publishTo(0.6);
      const gap = { gapId: 'gap', marketId, startTimeMs: 1, endTimeMs: 2, cause: 'silent_feed' } as const;
      const told = { ...gap, feed: 'polymarket.clob', repairedBy: null, knownTimeMs: 1, knownSeq: 1 };
      for (let n = 0; n < 50_000; n++) flooded.rig.bus.publish('gap', oneClock({ ...told, seq: n }));
      return read;
    },
  });
  await flooded.rig.trading.settled();
  expect(reads).toBe(2);
  await alone.begin();
  await alone.rig.trading.settled();
  for (const traded of [alone, flooded]) {
    traded.publishTo(1);
    traded.correct(RESOLVED_UP);
    await traded.end();
  }
  const [dealt, others] = [await flooded.positions(), await alone.positions()];
  expect(dealt.length).toBeGreaterThan(1);
  const names = { position_id: expect.any(String), paper_strategy_id: expect.any(String) };
  expect(dealt).toEqual(others.map((row) => ({ ...row, ...names })));
});

const TAPE = new TapeWriter().tape();

/** A reader of a recording, and what it tells a trader that replays each market in one stretch. */
function readerOf(recording: Partial<Recording>, markets: readonly Market[] = [], log = silentLogger) {
  const sent: TraderEvent[] = [];
  const clock = new FakeClock();
  const parts = { sessionsOf: async () => [], termsOf: async () => [], log, clock };
  const send = (event: TraderEvent): readonly TraderEffect[] => {
    sent.push(event);
    if (event.kind === 'past_begun') return [{ kind: 'read_stretch', marketId: event.marketId, afterSeq: 0 }];
    return event.kind === 'stretch_read' ? [{ kind: 'past_replayed', marketId: event.marketId }] : [];
  };
  const read = { ...NOTHING_RECORDED, ...recording };
  const reader = new PastReader({ ...parts, recording: read, markets: () => markets }, send);
  return { reader, sent, clock };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('markets are read two at once: each may need much memory', async () => {
  const ends: (() => void)[] = [];
  const stretch = () => new Promise<Stretch>((done) => ends.push(() => done({ tape: TAPE, toSeq: null })));
  const { reader } = readerOf({ stretch });
  for (const marketId of ['0x1', '0x2', '0x3', '0x4'])
    reader.read({ kind: 'read_past', market: marketOf(TAPE, { marketId }) });
  const counts: number[] = [];
  for (const end of [0, 1, 2, 3]) {
    await turn();
    counts.push(ends.length);
    ends[end]?.();
  }
  await reader.settled();
  expect(counts).toEqual([2, 3, 4, 4]);
});

test('is settled only when a past that was asked for during another is read too', async () => {
  const marketOfId = (marketId: string) => marketOf(TAPE, { marketId });
  const asked: string[] = [];
  const { reader, sent } = readerOf({
    stretch: async ({ marketId }) => {
      asked.push(marketId);
      if (asked.length < 3) reader.read({ kind: 'read_past', market: marketOfId(`0x${asked.length + 1}`) });
      await turn();
      return { tape: TAPE, toSeq: null };
    },
  });
  reader.read({ kind: 'read_past', market: marketOfId('0x1') });
  await reader.settled();
  expect(asked).toEqual(['0x1', '0x2', '0x3']);
  expect(sent.filter(({ kind }) => kind === 'stretch_read')).toHaveLength(3);
});

test('many markets that wait for another try are no reason for a warning', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on('warning', onWarning);
  onTestFinished(() => void process.off('warning', onWarning));
  const { reader, clock } = readerOf({});
  for (let market = 0; market < 20; market++)
    reader.read({ kind: 'read_past', market: marketOf(TAPE, { marketId: `0x${market}` }) });
  while (clock.waiting < 20) await turn();
  await turn();
  expect(warnings).toEqual([]);
  await reader.close();
  expect(clock.waiting).toBe(0);
});

test('each feed gets its own prices', async () => {
  const pointAt = (price: number) => ({ seq: price, receivedMs: 1, eventMs: 1, price });
  const feeds = (['chainlink', 'binance_spot'] as const).map(
    (source) => ({ ticker: 'BTC', source }) as const,
  );
  const prices: Recording['prices'] = async ({ source }) => [
    pointAt(source === 'chainlink' ? 97_000 : 96_999),
  ];
  const { reader, sent } = readerOf({ prices });
  reader.read({ kind: 'read_prices', feeds });
  await reader.settled();
  expect(sent).toEqual([
    { kind: 'prices_read', feed: feeds[0], points: [pointAt(97_000)] },
    { kind: 'prices_read', feed: feeds[1], points: [pointAt(96_999)] },
  ]);
});

test('prices that could not be read before trading ended are not sent', async () => {
  const { reader, sent } = readerOf({ prices: () => Promise.reject(new Error('away')) });
  reader.read({ kind: 'read_prices', feeds: [{ ticker: 'BTC', source: 'chainlink' }] });
  await turn();
  await reader.close();
  expect(sent).toEqual([]);
});

test.each([
  ['correct the stored one', { takerFeeRate: 0.01 }],
  ['resolve it', RESOLVED_UP],
])('a market is replayed with its newest record, which may %s', async (_, more) => {
  const [stored, newest] = [marketOf(TAPE), marketOf(TAPE, more)];
  const { reader, sent } = readerOf({ market: async () => stored }, [
    marketOf(TAPE, { marketId: '0xother' }),
    newest,
  ]);
  reader.read({ kind: 'read_market', marketId: stored.marketId });
  await reader.settled();
  expect(sent).toEqual([{ kind: 'past_market', market: newest }]);
});

test('the markets of a series whose windows ended in the last hour are replayed', async () => {
  const asked: unknown[] = [];
  const ended: Recording['ended'] = async (...question) => {
    asked.push(question);
    return [marketOf(TAPE)];
  };
  const { reader, sent, clock } = readerOf({ ended });
  reader.read({ kind: 'read_ended', series: 'ETH 15m' });
  await reader.settled();
  const endMs = clock.now();
  const series = { ticker: 'ETH', event_type: '15m' };
  expect(asked).toEqual([[series, { startMs: endMs - 3_600_000, endMs }]]);
  expect(sent).toEqual([{ kind: 'past_market', market: marketOf(TAPE) }]);
});

test('a resolution that could not be read is logged, and ends nothing', async () => {
  const lines: unknown[] = [];
  const log = { ...silentLogger, error: (...line: unknown[]) => void lines.push(line) } as unknown as Logger;
  const error = new Error('away');
  const { reader, sent } = readerOf({ market: () => Promise.reject(error) }, [], log);
  reader.read({ kind: 'read_resolution', marketId: TAPE.market.marketId });
  await reader.settled();
  expect([lines, sent]).toEqual([[[{ err: error }, 'paper.work_failed']], []]);
});

test('closing waits until the read in progress has sent its answer', async () => {
  let answer: (market: Market) => void = () => {};
  const read = new Promise<Market>((resolve) => {
    answer = resolve;
  });
  const { reader, sent } = readerOf({ market: () => read });
  reader.read({ kind: 'read_resolution', marketId: TAPE.market.marketId });
  const closed = reader.close().then(() => sent.length);
  await turn();
  answer(marketOf(TAPE, RESOLVED_UP));
  expect(await closed).toBe(1);
});

test.each([
  ['is unknown', null],
  ['is not resolved yet', marketOf(TAPE, { status: 'closed' })],
])('nothing is sent of an ended market that %s', async (_, market) => {
  const { reader, sent } = readerOf({ market: async () => market });
  reader.read({ kind: 'read_resolution', marketId: TAPE.market.marketId });
  await reader.settled();
  expect(sent).toEqual([]);
});

test.each([
  ['pauses every four milliseconds', false, [2, 4, 6], 8],
  ['does not continue once trading has ended', true, [2], 2],
])('a replay %s', async (_, isEnded, pausedAfter, steps) => {
  const fake = new FakeClock();
  let resumed = 0;
  const paused: number[] = [];
  // Each step of the replay takes two milliseconds.
  const clock: Clock = {
    now: () => fake.now(),
    monotonic: () => fake.monotonic() + 2 * resumed,
    after: (delayMs, run) => {
      paused.push(resumed);
      return fake.after(delayMs, run);
    },
  };
  const { marketId } = TAPE.market;
  const stretch = async (): Promise<Stretch> => ({ tape: TAPE, toSeq: null });
  const stored = { markets: () => [], sessionsOf: async () => [], termsOf: async () => [] };
  const reader = new PastReader(
    { ...stored, clock, log: silentLogger, recording: { ...NOTHING_RECORDED, stretch } },
    ({ kind }) => {
      if (kind === 'past_begun') return [{ kind: 'read_stretch', marketId, afterSeq: 0 }];
      if (kind === 'past_resumed' && ++resumed === 8) return [{ kind: 'past_replayed', marketId }];
      return [{ kind: 'past_paused', marketId }];
    },
  );
  reader.read({ kind: 'read_past', market: marketOf(TAPE) });
  await turn();
  if (!isEnded) await fake.advance(0);
  await reader.close();
  expect([paused, resumed, fake.waiting]).toEqual([pausedAfter, steps, 0]);
});
