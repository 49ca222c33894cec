/** When a market is watched, evaluated and forgotten: the bounds of `DetectorHost`. */
import { expect, test } from 'vitest';
import { bookRecord, marketRecord } from '../../test/support/api.ts';
import { FakeClock } from '../../test/support/fakeClock.ts';
import { book } from '../../test/support/records.ts';
import { Metrics } from '../runtime/metrics.ts';
import type { Gap } from '../schema/gap.ts';
import type { Market } from '../schema/market.ts';
import { DetectorHost, type ShownBook, type WrittenDetection } from './detectorHost.ts';
import type { ExecutableFill } from './executable.ts';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const END_MS = NOW_MS + 300_000;
const SHARE = 1_000_000;
const M1 = `0x${'1'.repeat(64)}`;
const CHEAP_YES: [number, number][] = [[4_600, 80 * SHARE]];
const CHEAP_NO: [number, number][] = [[4_700, 80 * SHARE]];

type Options = ConstructorParameters<typeof DetectorHost>[0];

/** A host with a sink that writes every row, unless `isRefusing`. */
function rig(more: Partial<Pick<Options, 'bookOf' | 'known'>> = {}) {
  const clock = new FakeClock(NOW_MS);
  const state = { isRefusing: false, written: null as WrittenDetection | null };
  const detected: number[] = [];
  const fills: (readonly ExecutableFill[])[] = [];
  const host = new DetectorHost({
    ...{ clock, metrics: new Metrics(), ...more },
    sink: {
      detected: async (detection) => {
        detected.push(detection.detectedMs - NOW_MS);
        return state.isRefusing ? null : (state.written ?? detection);
      },
      executable: async (_detection, computed) => void fills.push(computed),
    },
  });
  const market = (changes: Partial<Market> = {}) =>
    host.onMarket(marketRecord({ marketId: M1, startTimeMs: NOW_MS, endTimeMs: END_MS, ...changes }));
  let seq = 0;
  const show = (changes: { trusted?: boolean; yesAsks?: [number, number][]; timeMs?: number } = {}) =>
    host.onBook(
      bookRecord({
        ...{ seq: ++seq, marketId: M1, timeMs: clock.now(), trusted: true },
        ...{ yesBids: [[100, SHARE]], yesAsks: CHEAP_YES },
        no: { bids: [[100, SHARE]], asks: CHEAP_NO },
        ...changes,
      }),
    );
  const quote = (trusted: boolean) => {
    const times = { eventTimeMs: clock.now(), receivedTimeMs: clock.now(), underlyingPrice: null };
    const bests = { yesBid: 100, yesAsk: 4_600, noBid: 100, noAsk: 4_700, yesChanged: false };
    host.onQuote({ seq: ++seq, marketId: M1, ...times, ...bests, trusted });
  };
  const gap = (endReceivedMs: number | null, gapId = 'gap_1') =>
    host.onGap({ marketId: M1, gapId, endReceivedMs } as Gap);
  const isOpen = () => [...host.openOpportunities(clock.now())].length > 0;
  return { clock, host, state, detected, fills, market, show, quote, gap, isOpen };
}

test('a market is watched until its end, and not from then on or once it is resolved', () => {
  const watched = (changes: Partial<Market>) => {
    const { host, market } = rig();
    market(changes);
    host.close();
    return host.priced(M1) !== null;
  };
  expect(watched({ endTimeMs: NOW_MS + 1 })).toBe(true);
  expect(watched({ endTimeMs: NOW_MS })).toBe(false);
  expect(watched({ status: 'resolved' })).toBe(false);
});

test('a market is forgotten a minute after its end, and no sooner', async () => {
  const { clock, host, market, show } = rig();
  market();
  show();
  await clock.advance(1_000);
  host.evaluateAll(END_MS + 60_000);
  expect(host.priced(M1)).not.toBeNull();
  host.evaluateAll(END_MS + 60_001);
  expect(host.priced(M1)).toBeNull();
  host.close();
});

test('a market with fills to compute is not forgotten', () => {
  const { host, market, show } = rig();
  market();
  show();
  host.evaluateAll(END_MS + 60_001);
  expect(host.priced(M1)).not.toBeNull();
  host.close();
});

test('a row that could not be written is tried again a second later, and counts as a first one then', async () => {
  const { clock, host, state, detected, market, show, isOpen } = rig();
  market();
  state.isRefusing = true;
  show();
  await clock.advance(0);
  expect([detected, isOpen()]).toEqual([[0], false]);
  state.isRefusing = false;
  await clock.advance(999);
  show();
  expect(detected).toEqual([0]);
  await clock.advance(1);
  show();
  await clock.advance(0);
  expect([detected, isOpen()]).toEqual([[0, 1_000], true]);
  host.close();
});

test('while a gap is open nothing is open, and only the end of the same gap ends it', async () => {
  const { clock, host, detected, market, show, gap, isOpen } = rig();
  market();
  gap(null);
  show();
  expect(detected).toEqual([]);
  gap(clock.now(), 'gap_other');
  show();
  expect(detected).toEqual([]);
  gap(null, 'gap_2');
  gap(clock.now());
  show();
  expect(detected).toEqual([]);
  gap(clock.now(), 'gap_2');
  show();
  await clock.advance(0);
  expect([detected, isOpen()]).toEqual([[0], true]);
  gap(null, 'gap_3');
  expect(isOpen()).toBe(false);
  host.close();
});

test('a signal ends when its best price loses trust, and begins again with the next trusted book', async () => {
  const { clock, host, detected, market, show, quote, isOpen } = rig();
  market();
  show();
  await clock.advance(0);
  quote(true);
  expect(isOpen()).toBe(true);
  quote(false);
  expect(isOpen()).toBe(false);
  quote(true);
  expect(isOpen()).toBe(false);
  show();
  expect([isOpen(), detected]).toEqual([true, [0]]);
  host.close();
});

test('while no records arrive nothing is detected, and afterwards the book of before is copied again', async () => {
  const shown: ShownBook = {
    ...{ yes: book([[100, SHARE]], CHEAP_YES), no: book([[100, SHARE]], CHEAP_NO) },
    ...{ trusted: true, quotedTimeMs: NOW_MS },
  };
  const { clock, host, detected, fills, market, show } = rig({ bookOf: () => shown });
  market();
  host.onReceiving({ isReceiving: false, timeMs: NOW_MS });
  show({ yesAsks: [[9_900, SHARE]] });
  host.evaluateAll(clock.now());
  expect(detected).toEqual([]);
  host.onReceiving({ isReceiving: true, timeMs: NOW_MS });
  host.evaluateAll(clock.now());
  await clock.advance(0);
  expect(detected).toEqual([0]);
  host.onReceiving({ isReceiving: false, timeMs: NOW_MS });
  await clock.advance(10_000);
  expect(fills).toEqual([]);
  host.close();
});

test('a best price of a market without a book copies the one shown before, unless it is unfinished', async () => {
  const shown: ShownBook = {
    ...{ yes: book([[100, SHARE]], CHEAP_YES), no: book([[100, SHARE]], CHEAP_NO) },
    ...{ trusted: true, quotedTimeMs: NOW_MS },
  };
  let answer: ShownBook | 'unfinished' | null = null;
  const { clock, host, detected, market, quote } = rig({ bookOf: () => answer });
  market();
  quote(true);
  answer = 'unfinished';
  quote(true);
  host.evaluateAll(clock.now());
  expect([detected, host.priced(M1)?.trusted]).toEqual([[], false]);
  answer = shown;
  quote(true);
  expect(host.priced(M1)?.trusted).toBe(true);
  host.evaluateAll(clock.now());
  expect(detected).toEqual([0]);
  host.close();
});

test('a closed market has nothing open, although its book is still cheap', async () => {
  const { clock, host, detected, market, show, isOpen } = rig();
  market();
  show();
  await clock.advance(0);
  expect(isOpen()).toBe(true);
  market({ status: 'closed' });
  expect(isOpen()).toBe(false);
  show();
  expect([isOpen(), detected]).toEqual([false, [0]]);
  host.close();
});

test('the row of another process is kept as the first one, and its fills are left to that process', async () => {
  const { clock, host, state, detected, fills, market, show } = rig();
  market();
  state.written = { detectedMs: NOW_MS - 5_000, direction: 'BUY_BOTH' };
  show();
  await clock.advance(10_000);
  const first = () => [...host.openOpportunities(clock.now())][0]?.opportunity.first;
  expect(first()).toEqual({ detectedMs: NOW_MS - 5_000, direction: 'BUY_BOTH', isAudited: true });
  expect([detected, fills]).toEqual([[0], []]);
  // It is repeated on the stream: the row known first stays.
  host.onWritten({ marketId: M1, tier: 'logical', detectedMs: NOW_MS, direction: 'BUY_YES' });
  expect(first()?.detectedMs).toBe(NOW_MS - 5_000);
  host.close();
});

test('a row heard of while its own is being written is known at once', async () => {
  const { clock, host, market, show } = rig();
  market();
  show();
  const first = () => [...host.openOpportunities(clock.now())][0]?.opportunity.first;
  expect(first()).toEqual({ detectedMs: NOW_MS, direction: 'BUY_BOTH', isAudited: false });
  host.onWritten({ marketId: M1, tier: 'logical', detectedMs: NOW_MS - 1, direction: 'BUY_BOTH' });
  expect(first()).toEqual({ detectedMs: NOW_MS - 1, direction: 'BUY_BOTH', isAudited: true });
  host.onWritten({ marketId: '0xother', tier: 'logical', detectedMs: NOW_MS, direction: 'BUY_YES' });
  host.close();
});

test('a detection known from an earlier run is not made again', async () => {
  const known = [
    { marketId: M1, tier: 'logical', detectedMs: NOW_MS - 9_000, direction: 'BUY_BOTH' } as const,
  ];
  const { clock, host, detected, market, show } = rig({ known });
  market();
  show();
  await clock.advance(0);
  expect(detected).toEqual([]);
  expect([...host.openOpportunities(clock.now())][0]?.opportunity.first).toEqual({
    ...{ detectedMs: NOW_MS - 9_000, direction: 'BUY_BOTH', isAudited: true },
  });
  host.close();
});

test('a closed host evaluates nothing and no longer sweeps', async () => {
  const { clock, host, detected, market, show } = rig();
  market();
  host.close();
  show();
  await clock.advance(5_000);
  expect([detected, clock.waiting]).toEqual([[], 0]);
});
