import { expect, it } from 'vitest';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { MemorySink } from '../../test/support/memorySink.ts';
import { MARKET } from '../../test/support/wire.ts';
import { silentLogger } from '../runtime/log.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Gap } from '../schema/gap.ts';
import { type Market, UNKNOWN } from '../schema/market.ts';
import { SEQS_PER_MILLISECOND } from '../schema/records.ts';
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
    startReceivedMs: DOWN_SINCE - 1000,
    endReceivedMs: null,
    cause: 'disconnected',
    feed: 'polymarket.clob',
    repairedBy: null,
    knownTimeMs: DOWN_SINCE,
    knownSeq: 1,
  };
}

interface ProvenRow {
  readonly marketId: string;
  readonly eventTimeMs: number;
  readonly receivedTimeMs: number;
  readonly seq?: number;
}

function bookRowOf(row: ProvenRow) {
  const sides = ['yes_bid', 'yes_ask', 'no_bid', 'no_ask'];
  const empty = sides.flatMap((side) => [[`${side}_px`, []] as const, [`${side}_shares`, []] as const]);
  const state = { seq: 1, trusted: true, mirrored: true, underlyingPrice: null };
  return { ...state, ...row, ...Object.fromEntries(empty) };
}

/** Resumes on a store with these records. */
async function resume(
  markets: readonly Market[],
  gaps: readonly Gap[],
  { downSinceMs = DOWN_SINCE, proven = [] }: { downSinceMs?: number; proven?: readonly ProvenRow[] } = {},
) {
  const sink = new MemorySink();
  const common = { clock: new FakeClock(NOW), log: silentLogger, metrics: new Metrics() };
  const recorder = new Recorder({ ...common, sink, timeBy: 'clock' });
  const answer = (query: string) =>
    query.includes('FROM gaps')
      ? gaps
      : query.includes('FROM markets')
        ? markets
        : query.includes('WHERE trusted')
          ? proven
          : query.includes('max((ts, seq))')
            ? proven.map(bookRowOf)
            : [];
  const store = {
    rows: async <T>(query: string) => answer(query) as unknown as T[],
    stream: () => Promise.reject(new Error('nothing streams here')),
    writer: { previousRun: { clean: false, lastAliveTimeMs: downSinceMs } },
  };
  const followed = await resumeRecording({ ...common, store, recorder });
  return { followed, recorder, gaps: sink.gaps };
}

it('records the downtime as a gap of each market that it continues', async () => {
  const last = { marketId: MARKET.marketId, eventTimeMs: NOW - 8_100, receivedTimeMs: NOW - 8_000 };
  const { followed, recorder, gaps } = await resume([MARKET], [], { proven: [last] });
  expect(followed).toEqual([MARKET]);
  // The run lived three seconds longer, but everything it received in them was lost with it.
  const bounds = { startTimeMs: NOW - 8_100, startReceivedMs: NOW - 8_000, endTimeMs: null };
  expect(gaps).toMatchObject([
    { marketId: MARKET.marketId, cause: 'process_down', ...bounds, knownTimeMs: NOW },
  ]);
  expect(recorder.gaps.isOpen(MARKET.marketId)).toBe(true);
});

it('starts the gap of a market without a stored row before any row that it may have had', async () => {
  const { gaps } = await resume([MARKET], []);
  const startTimeMs = Math.min(MARKET.startTimeMs, DOWN_SINCE - 60_000) - 30 * 86_400_000;
  expect(gaps).toMatchObject([{ startTimeMs, startReceivedMs: DOWN_SINCE - 60_000 }]);
});

it('records the downtime for ended markets that were still subscribed', async () => {
  const ended = (secondsAgo: number) => ({
    ...{ ...MARKET, marketId: `0x${secondsAgo}`, slug: `${secondsAgo}`, status: 'closed' as const },
    endTimeMs: DOWN_SINCE - secondsAgo * 1_000,
  });
  const { gaps } = await resume([ended(299), ended(300)], []);
  expect(gaps).toMatchObject([{ marketId: '0x299', cause: 'process_down' }]);
});

it('moves the start of an open gap back to the last stored proven row', async () => {
  const gap = openGap(MARKET.marketId);
  const row = (beforeMs: number) => ({
    ...{ marketId: MARKET.marketId, eventTimeMs: gap.startTimeMs - beforeMs },
    receivedTimeMs: gap.startReceivedMs - beforeMs + 20,
  });
  expect((await resume([MARKET], [gap], { proven: [row(-500)] })).gaps).toEqual([]);
  const { gaps } = await resume([MARKET], [gap], { proven: [row(500)] });
  const bounds = { startTimeMs: gap.startTimeMs - 500, startReceivedMs: gap.startReceivedMs - 480 };
  expect(gaps).toMatchObject([{ ...gap, ...bounds }]);
});

it('closes the gaps of markets that are not followed any more, and keeps the others open', async () => {
  const { recorder, gaps } = await resume([MARKET], [openGap('0xover'), openGap(MARKET.marketId)]);
  expect(gaps).toMatchObject([{ marketId: '0xover', endTimeMs: NOW, repairedBy: null }]);
  expect(recorder.gaps.isOpen(MARKET.marketId)).toBe(true);
  expect((await resume([], [openGap('0xover')])).gaps).toHaveLength(1);
});

it('records the downtime also for markets that ended too long ago to be followed', async () => {
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
  const lost = { cause: 'process_down', startReceivedMs: downSinceMs - 60_000 };
  expect(gaps).toMatchObject([
    { ...lost, marketId: '0x30', endTimeMs: NOW, repairedBy: null },
    { ...lost, marketId: '0x23', endTimeMs: null },
  ]);
});

it('does not follow markets of imports, which have no listing', async () => {
  const { followed, recorder } = await resume([{ ...MARKET, slug: UNKNOWN, status: 'closed' }], []);
  expect(followed).toEqual([]);
  expect(recorder.market(MARKET.marketId)).toBeNull();
});

it.each([
  ['a stored row', { proven: 3_000, alive: -5_000 }],
  ['the last sign of life', { proven: -5_000, alive: 3_000 }],
])(
  'numbers its records above those of an earlier run when the clock was set back, known by %s',
  async (_, ahead) => {
    const seq = (NOW + ahead.proven) * SEQS_PER_MILLISECOND + 7;
    const last = { marketId: MARKET.marketId, eventTimeMs: NOW - 8_100, receivedTimeMs: NOW - 8_000, seq };
    const { gaps } = await resume([MARKET], [], { proven: [last], downSinceMs: NOW + ahead.alive });
    expect(gaps).toHaveLength(1);
    expect(gaps[0]?.seq).toBeGreaterThan((NOW + 3_000) * SEQS_PER_MILLISECOND);
  },
);
