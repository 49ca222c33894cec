import { expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { MARKET } from '../../test/support/wire.ts';
import { silentLogger } from '../ops/log.ts';
import { Metrics } from '../ops/metrics.ts';
import type { Gap } from '../schema/gap.ts';
import { type Market, UNKNOWN } from '../schema/market.ts';
import { Recorder } from './recorder.ts';
import { resumeRecording } from './resume.ts';

const NOW = MARKET.startTimeMs + 60_000;
const DOWN_SINCE = NOW - 5000;

function openGap(marketId: string): Gap {
  return {
    gapId: `gap_${marketId}`,
    marketId,
    startTimeMs: DOWN_SINCE - 1000,
    endTimeMs: null,
    cause: 'disconnected',
    feed: 'polymarket.clob',
    repairedBy: null,
    knownTimeMs: DOWN_SINCE,
    knownSeq: 1,
  };
}

/** Resumes on a store that holds these records. */
async function resume(
  markets: readonly Market[],
  gaps: readonly Gap[],
  { downSinceMs = DOWN_SINCE }: { downSinceMs?: number } = {},
) {
  const sink = new MemorySink();
  const common = { clock: new FakeClock(NOW), log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink, timeBy: 'clock' });
  const answer = (query: string) =>
    query.includes('FROM gaps') ? gaps : query.includes('FROM markets') ? markets : [];
  const store = {
    rows: async <T>(query: string) => answer(query) as unknown as T[],
    stream: () => Promise.reject(new Error('nothing streams here')),
    writer: { previousRun: { clean: false, lastAliveTimeMs: downSinceMs } },
  };
  const followed = await resumeRecording({ ...common, store, recorder });
  return { followed, recorder, gaps: sink.gaps };
}

it('records the time nobody was there as a gap of each market it goes on with', async () => {
  const { followed, recorder, gaps } = await resume([MARKET], []);
  expect(followed).toEqual([MARKET]);
  expect(gaps).toMatchObject([
    { marketId: MARKET.marketId, cause: 'process_down', startTimeMs: DOWN_SINCE, endTimeMs: null },
  ]);
  expect(recorder.gaps.isOpen(MARKET.marketId)).toBe(true);
});

it('ends the gaps of markets that nobody follows any more, and leaves the others open', async () => {
  const { recorder, gaps } = await resume([MARKET], [openGap('0xover'), openGap(MARKET.marketId)]);
  expect(gaps).toMatchObject([{ marketId: '0xover', endTimeMs: NOW, repairedBy: null }]);
  expect(recorder.gaps.isOpen(MARKET.marketId)).toBe(true);
  expect((await resume([], [openGap('0xover')])).gaps).toHaveLength(1);
});

it('records it of markets too that ended so long ago that nobody follows them', async () => {
  const DAY_MS = 86_400_000;
  const ended = (hoursAgo: number, status: Market['status'] = 'open') => {
    const endTimeMs = NOW - hoursAgo * 3_600_000;
    const window = { startTimeMs: endTimeMs - 300_000, endTimeMs };
    return { ...MARKET, ...window, marketId: `0x${hoursAgo}`, slug: `${hoursAgo}`, status };
  };
  const downSinceMs = NOW - 2 * DAY_MS;
  const markets = [ended(30), ended(40, 'resolved'), ended(23)];
  const { followed, gaps } = await resume(markets, [], { downSinceMs });
  expect(followed.map(({ marketId }) => marketId)).toEqual(['0x23']);
  const lost = { cause: 'process_down', startTimeMs: downSinceMs };
  expect(gaps).toMatchObject([
    { ...lost, marketId: '0x30', endTimeMs: NOW, repairedBy: null },
    { ...lost, marketId: '0x23', endTimeMs: null },
  ]);
});

it('does not follow markets of imports, which no listing knows', async () => {
  const { followed, recorder } = await resume([{ ...MARKET, slug: UNKNOWN, status: 'closed' }], []);
  expect(followed).toEqual([]);
  expect(recorder.market(MARKET.marketId)).toBeNull();
});
