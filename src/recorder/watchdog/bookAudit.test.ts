import { expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemorySink } from '../../../test/support/memorySink.ts';
import { MARKET, WireMarket } from '../../../test/support/wire.ts';
import { TransportError } from '../../runtime/errors.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { BookSnapshotEvent } from '../../schema/events.ts';
import { mapClobFrame } from '../../venues/polymarket/clob/mapper.ts';
import type { RecordedMarket } from '../recordedMarket.ts';
import { Recorder } from '../recorder.ts';
import { BookAudit } from './bookAudit.ts';

const REQUEST_PERIOD_MS = 250;

const recorded = {
  market: { yesTokenId: '1', noTokenId: '2' },
  book: { yes: { tokenId: '1' }, no: { tokenId: '2' } },
} as unknown as RecordedMarket;

test('an answer ends the growth of the delay between requests that fail', async () => {
  const clock = new FakeClock();
  const delays: number[] = [];
  const verdicts: string[] = [];
  let isAway = true;
  const audit = new BookAudit({
    ...{ clock, random: () => 0, metrics: new Metrics() },
    log: { ...silentLogger, warn: ({ retryDelayMs }: never) => delays.push(retryDelayMs) } as never,
    rest: {
      books: async () => {
        if (isAway) throw new TransportError('away');
        return [];
      },
    },
    onAnswer: ({ verdict }) => verdicts.push(verdict),
  });
  const ask = async () => {
    audit.request(recorded);
    audit.tick();
    await clock.advance(0);
    await clock.advance(Math.max(delays.at(-1) ?? 0, REQUEST_PERIOD_MS));
  };
  for (let n = 0; n < 3; n++) await ask();
  expect([delays, audit.isAvailable]).toEqual([[500, 1_000, 2_000], false]);
  isAway = false;
  await ask();
  expect([verdicts, audit.isAvailable]).toEqual([['absent'], true]);
  isAway = true;
  await ask();
  expect(delays.at(-1)).toBe(500);
});

test('a market whose book could not be read is neither absent nor settled', async () => {
  const clock = new FakeClock();
  const verdicts: string[] = [];
  const audit = new BookAudit({
    ...{ clock, random: () => 0, metrics: new Metrics(), log: silentLogger },
    rest: {
      books: async (_, onUnusable) => {
        onUnusable?.('2');
        return [];
      },
    },
    onAnswer: ({ verdict }) => verdicts.push(verdict),
  });
  audit.request(recorded);
  audit.tick();
  await clock.advance(0);
  expect([verdicts, audit.isAvailable]).toEqual([['unusable'], true]);
});

test.each([
  ['older than our book, with other levels', -1, 2, 'behind'],
  ['older than our book, with the same levels', -1, 1, 'behind'],
  ['as old as our book, with other levels', 0, 2, 'differs'],
  ['as old as our book, with the same levels', 0, 1, 'equal'],
  ['newer than our book, with other levels', 1, 2, 'differs'],
])('an answer %s', async (_, newerByMs, size, verdict) => {
  const clock = new FakeClock(MARKET.startTimeMs);
  const common = { clock, metrics: new Metrics(), log: silentLogger };
  const recorder = new Recorder({ ...common, sink: new MemorySink(), timeBy: 'receipt' });
  recorder.track(MARKET);
  const wire = new WireMarket();
  wire.set({ side: 'BUY', price: 4_900, size: 1_000_000 });
  recorder.clobFrame(wire.snapshot(clock.now()), clock.now());
  wire.set({ side: 'BUY', price: 4_900, size: size * 1_000_000 });
  const answer = mapClobFrame(wire.snapshot(clock.now() + newerByMs), clock.now()) as BookSnapshotEvent[];
  const verdicts: string[] = [];
  const audit = new BookAudit({
    ...{ ...common, random: () => 0, rest: { books: async () => answer } },
    onAnswer: (given) => verdicts.push(given.verdict),
  });
  audit.request(recorder.recorded(MARKET.marketId) as RecordedMarket);
  audit.tick();
  await clock.advance(0);
  expect(verdicts).toEqual([verdict]);
  recorder.close();
});
