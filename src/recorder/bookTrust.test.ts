import { describe, expect, it } from 'vitest';
import { recordingLines, recordingsAbsent } from '../../test/support/fixtures.ts';
import { recordedWire } from '../../test/support/recordedWire.ts';
import { MARKET, WireMarket } from '../../test/support/wire.ts';
import { silentLogger } from '../runtime/log.ts';
import type { BookSnapshotEvent } from '../schema/events.ts';
import { mapClobFrame } from '../venues/polymarket/clob/mapper.ts';
import type { RecordedMarket } from './recordedMarket.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;
const LOST = [
  { side: 'BUY', price: 4900, size: 0 },
  { side: 'BUY', price: 4800, size: 0 },
] as const;

const setUp = (market = MARKET, log = silentLogger) => recordedWire(T0, market, log);

describe('the trust in a book', () => {
  it('is lost with a gap from the last proven row, when a mismatch lasts a second longer than its action', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    play([wire.action(T0 + 1, LOST)[0]], T0 + 5);
    recorder.finishQuiet(T0 + 1004);
    expect(sink.gaps).toEqual([]);
    expect(sink.books.at(-1)).toMatchObject({ trusted: false });
    recorder.finishQuiet(T0 + 1005);
    const known = { knownTimeMs: T0 + 1005, knownSeq: sink.gaps[0]?.seq };
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, endTimeMs: null, cause: 'book_mismatch', ...known }]);
    play(wire.books(T0 + 2000), T0 + 2000);
    expect(sink.gaps.at(-1)).toMatchObject({ endTimeMs: T0 + 2000, repairedBy: 'snapshot', ...known });
    expect(sink.gaps[1]?.seq).toBeGreaterThan(known.knownSeq ?? Infinity);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true });
  });

  it('is lost at the end of a recording, as if the second after the mismatch had passed', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    play([wire.action(T0 + 1, LOST)[0]], T0 + 5);
    recorder.close();
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, endTimeMs: null, knownTimeMs: T0 + 1005 }]);
  });

  it('was lost in a closed gap, when a whole book within the second shows a loss', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    play([wire.action(T0 + 1, LOST)[0]], T0 + 5);
    recorder.finishQuiet(T0 + 30);
    play(wire.books(T0 + 300), T0 + 300);
    expect(sink.gaps).toMatchObject([
      { startTimeMs: T0, endTimeMs: T0 + 300, cause: 'book_mismatch', repairedBy: 'snapshot' },
    ]);
    expect(sink.gaps[0]).toMatchObject({ knownTimeMs: T0 + 300, knownSeq: (sink.gaps[0]?.seq ?? 0) - 1 });
  });

  it('was lost in a closed gap, when a second subscription shows a different book than the first', () => {
    const { sink, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    // Neither an equal book nor one that follows a trade indicates a loss.
    play([wire.snapshot(T0)], T0 + 100);
    wire.set({ side: 'BUY', price: 4000, size: SHARE });
    play(wire.books(T0 + 200), T0 + 200);
    expect(sink.gaps).toEqual([]);
    wire.set({ side: 'BUY', price: 4000, size: 2 * SHARE });
    wire.set({ side: 'BUY', price: 4000, size: 3 * SHARE });
    play([wire.snapshot(T0 + 900)], T0 + 950);
    expect(sink.gaps).toMatchObject([
      {
        ...{ startTimeMs: T0 + 200, startReceivedMs: T0 + 200, endTimeMs: T0 + 900, endReceivedMs: T0 + 950 },
        ...{ cause: 'disconnected', repairedBy: 'snapshot' },
      },
    ]);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true });
  });

  it('returns at the start of its gap, when the clock was set back before the proof', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    recorder.disconnect([MARKET.yesTokenId, MARKET.noTokenId], T0 + 100);
    play([wire.snapshot(T0 + 50)], T0 - 500);
    const received = { startReceivedMs: T0, endReceivedMs: T0 };
    expect(sink.gaps.at(-1)).toMatchObject({ startTimeMs: T0, endTimeMs: T0 + 50, ...received });
  });

  it('was lost in a closed gap, when the next action verifies with the same hash inputs', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    play([wire.action(T0 + 1, LOST)[0]], T0 + 5);
    recorder.finishQuiet(T0 + 30);
    play(wire.action(T0 + 100, [{ side: 'BUY', price: 4800, size: 0 }]), T0 + 100);
    recorder.finishQuiet(T0 + 200);
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, endTimeMs: T0 + 100, repairedBy: 'action' }]);
  });

  it('was never lost when the rest of an action came late', async () => {
    const { sink, recorder, wire, metrics, play } = setUp();
    play([wire.snapshot(T0)], T0);
    const [first, rest] = wire.action(T0 + 1, LOST);
    play([first], T0 + 5);
    recorder.finishQuiet(T0 + 30);
    expect(sink.books.at(-1)).toMatchObject({ trusted: false });
    play([rest], T0 + 60);
    recorder.finishQuiet(T0 + 5000);
    expect(sink.gaps).toEqual([]);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true, eventTimeMs: T0 + 1 });
    expect(await metrics.registry.metrics()).toContain('underround_mismatches_dismissed_total 1');
  });

  it('was lost in a closed gap, when the rest of an action came late and one of its frames never', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    const frames = wire.action(T0 + 1, [...LOST, { side: 'BUY', price: 4700, size: 0 }]);
    play([frames[0]], T0 + 5);
    recorder.finishQuiet(T0 + 30);
    play([frames[2]], T0 + 60);
    recorder.finishQuiet(T0 + 90);
    play(wire.action(T0 + 100, [{ side: 'BUY', price: 4800, size: 0 }]), T0 + 100);
    recorder.finishQuiet(T0 + 200);
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, endTimeMs: T0 + 100, cause: 'book_mismatch' }]);
  });

  it('was lost in a closed gap, when another action of the same millisecond verifies', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    play([wire.action(T0 + 1, LOST)[0]], T0 + 5);
    recorder.finishQuiet(T0 + 30);
    play(
      wire.action(T0 + 1, [
        { side: 'BUY', price: 4800, size: 0 },
        { side: 'BUY', price: 4700, size: 0 },
      ]),
      T0 + 60,
    );
    recorder.finishQuiet(T0 + 200);
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, cause: 'book_mismatch', repairedBy: 'action' }]);
  });

  it('was never lost when only a trade’s message was late', async () => {
    const { sink, recorder, wire, metrics, play } = setUp();
    play([wire.snapshot(T0)], T0);
    const trade = wire.trade(T0 + 3, { price: 3300, size: SHARE });
    play(wire.action(T0 + 3, [{ side: 'BUY', price: 4000, size: SHARE }]), T0 + 3);
    recorder.finishQuiet(T0 + 600);
    play([trade], T0 + 603);
    recorder.finishQuiet(T0 + 5000);
    expect(sink.gaps).toEqual([]);
    expect(await metrics.registry.metrics()).toContain('underround_mismatches_dismissed_total 1');
  });

  it('was never lost when only the message of another tick size was late', async () => {
    const { sink, recorder, wire, metrics, play } = setUp();
    play([wire.snapshot(T0)], T0);
    wire.tickSize = '0.1';
    play(wire.action(T0 + 3, [{ side: 'BUY', price: 4000, size: SHARE }]), T0 + 3);
    recorder.finishQuiet(T0 + 600);
    expect(sink.books.at(-1)).toMatchObject({ trusted: false });
    const { marketId: market, yesTokenId: asset_id } = MARKET;
    const sizes = { old_tick_size: '0.01', new_tick_size: '0.1', event_type: 'tick_size_change' };
    play([JSON.stringify({ market, asset_id, ...sizes, timestamp: String(T0 + 3) })], T0 + 603);
    recorder.finishQuiet(T0 + 5000);
    expect(sink.gaps).toEqual([]);
    expect(sink.quotes.at(-1)).toMatchObject({ trusted: true });
    expect(await metrics.registry.metrics()).toContain('underround_mismatches_dismissed_total 1');
  });

  it('was lost in a closed gap, when a later trade and a repetition of the lost level hide the loss', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    wire.action(T0 + 100, [{ side: 'BUY', price: 4600, size: 7 * SHARE }]);
    play(wire.action(T0 + 380, [{ side: 'SELL', price: 5300, size: SHARE }]), T0 + 385);
    recorder.finishQuiet(T0 + 430);
    play([wire.trade(T0 + 440, { price: 4900, size: SHARE })], T0 + 445);
    play(wire.action(T0 + 440, [{ side: 'BUY', price: 4600, size: 9 * SHARE }]), T0 + 446);
    recorder.finishQuiet(T0 + 600);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true, eventTimeMs: T0 + 440 });
    expect(sink.gaps).toMatchObject([
      { startTimeMs: T0, endTimeMs: T0 + 440, cause: 'book_mismatch', repairedBy: 'action' },
    ]);
  });

  /** An action of the venue whose frames never arrive, and the frames of three that follow it. */
  function withLostAction() {
    const world = setUp();
    const { wire, play } = world;
    play([wire.snapshot(T0)], T0);
    const level = (price: number, size: number) => ({ side: 'BUY', price, size: size * SHARE }) as const;
    wire.action(T0 + 10, [level(4600, 7)]);
    const late = wire.action(T0 + 20, [level(4700, 7)]);
    play(wire.action(T0 + 30, [level(4800, 7)]), T0 + 35);
    world.recorder.finishQuiet(T0 + 60);
    return { ...world, late, level };
  }

  it('was lost in a closed gap, when one action came late and a requested book shows that another never did', () => {
    const { sink, recorder, wire, play, late } = withLostAction();
    play(late, T0 + 70);
    expect(sink.gaps).toEqual([]);
    const books = mapClobFrame(wire.snapshot(T0 + 300), T0 + 300) as BookSnapshotEvent[];
    recorder.applyRequestedBooks(recorder.recorded(MARKET.marketId) as RecordedMarket, books);
    expect(sink.gaps).toMatchObject([
      { startTimeMs: T0, endTimeMs: T0 + 300, cause: 'book_mismatch', repairedBy: 'rest_book' },
    ]);
  });

  it('was lost in a closed gap, when one action came late and a repetition hides that another never did', () => {
    const { sink, recorder, wire, play, late, level } = withLostAction();
    play(late, T0 + 70);
    play([wire.trade(T0 + 100, { price: 4900, size: SHARE })], T0 + 105);
    play(wire.action(T0 + 100, [level(4600, 9)]), T0 + 106);
    recorder.finishQuiet(T0 + 200);
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, endTimeMs: T0 + 100, repairedBy: 'action' }]);
  });

  it('was lost in a closed gap, when the rest of a later action hides that an action never arrived', () => {
    const { sink, recorder, wire, play, late, level } = withLostAction();
    // The two frames of the next action come from different connections.
    const [first, rest] = wire.action(T0 + 100, [level(4700, 8), level(4600, 9)]);
    play([first], T0 + 105);
    recorder.finishQuiet(T0 + 130);
    play([rest], T0 + 140);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true, eventTimeMs: T0 + 100 });
    expect(sink.gaps).toMatchObject([
      { startTimeMs: T0, endTimeMs: T0 + 100, cause: 'book_mismatch', repairedBy: 'action' },
    ]);
    // The missing frames arrive now, but the gap is already recorded and stays.
    play(late, T0 + 150);
    expect(sink.gaps).toHaveLength(1);
  });

  it('was lost in a closed gap, when a late frame of a later action hides that an action never arrived', () => {
    const { sink, recorder, wire, play, level } = withLostAction();
    const [late, ...rest] = wire.action(T0 + 100, [level(4700, 8)]);
    play(rest, T0 + 100);
    play(wire.action(T0 + 110, [level(4600, 9)]), T0 + 115);
    recorder.finishQuiet(T0 + 140);
    expect(sink.books.at(-1)).toMatchObject({ trusted: false });
    play([late], T0 + 150);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true, eventTimeMs: T0 + 110 });
    expect(sink.gaps).toMatchObject([
      { startTimeMs: T0, endTimeMs: T0 + 110, cause: 'book_mismatch', repairedBy: 'action' },
    ]);
  });

  it('was lost in a closed gap, when late frames complete its first unproven state but not the next one', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    const level = (price: number, size: number) => ({ side: 'BUY', price, size: size * SHARE }) as const;
    const late = wire.action(T0 + 10, [level(4700, 7)]);
    play(wire.action(T0 + 20, [level(4800, 7)]), T0 + 25);
    wire.action(T0 + 30, [level(4600, 7)]);
    play(wire.action(T0 + 40, [level(4500, 7)]), T0 + 45);
    play(wire.action(T0 + 50, [level(4600, 9)]), T0 + 55);
    recorder.finishQuiet(T0 + 80);
    expect(sink.books.at(-1)).toMatchObject({ trusted: false });
    play(late, T0 + 90);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true, eventTimeMs: T0 + 50 });
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, endTimeMs: T0 + 50, cause: 'book_mismatch' }]);
  });

  it('was never lost when the frames of two actions come late, and those of the second in two parts', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    const level = (price: number, size: number) => ({ side: 'BUY', price, size: size * SHARE }) as const;
    const [first, rest] = wire.action(T0 + 10, [level(4600, 7), level(4700, 7)]);
    const [next, nextRest] = wire.action(T0 + 20, [level(4800, 7), level(4500, 9)]);
    play([first], T0 + 15);
    recorder.finishQuiet(T0 + 40);
    play([next], T0 + 45);
    recorder.finishQuiet(T0 + 70);
    play([rest], T0 + 75);
    play([nextRest], T0 + 80);
    recorder.finishQuiet(T0 + 5_000);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true, eventTimeMs: T0 + 20 });
    expect(sink.gaps).toEqual([]);
  });

  it('was never lost when the frames that one connection lost and the message of a trade came late', async () => {
    const { sink, recorder, wire, metrics, play } = setUp();
    play([wire.snapshot(T0)], T0);
    const late = wire.action(T0 + 10, [{ side: 'BUY', price: 4700, size: 7 * SHARE }]);
    const trade = wire.trade(T0 + 20, { price: 3300, size: SHARE });
    play(wire.action(T0 + 20, [{ side: 'BUY', price: 4800, size: 7 * SHARE }]), T0 + 25);
    recorder.finishQuiet(T0 + 50);
    play([...late, trade], T0 + 100);
    recorder.finishQuiet(T0 + 5_000);
    expect(sink.quotes.at(-1)).toMatchObject({ trusted: true, eventTimeMs: T0 + 20 });
    expect(sink.gaps).toEqual([]);
    expect(await metrics.registry.metrics()).toContain('underround_mismatches_dismissed_total 1');
  });

  it('was never lost when one token’s first book came after the other’s', () => {
    const { sink, recorder, wire, play } = setUp();
    const [yes, no] = JSON.parse(wire.snapshot(T0)) as unknown[];
    play([JSON.stringify([yes])], T0);
    recorder.finishQuiet(T0 + 100);
    play([JSON.stringify([no])], T0 + 300);
    recorder.finishQuiet(T0 + 5000);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true });
    expect(sink.gaps).toEqual([]);
  });

  it('was never lost when the messages of two trades came late', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    const first = wire.trade(T0 + 3, { price: 3300, size: SHARE });
    play(wire.action(T0 + 3, [{ side: 'BUY', price: 4000, size: SHARE }]), T0 + 3);
    const second = wire.trade(T0 + 90, { price: 3400, size: SHARE });
    play(wire.action(T0 + 90, [{ side: 'BUY', price: 4000, size: 2 * SHARE }]), T0 + 90);
    play([first, second], T0 + 500);
    recorder.finishQuiet(T0 + 5000);
    expect(sink.gaps).toEqual([]);
    expect(sink.books.at(-1)).toMatchObject({ eventTimeMs: T0 + 90 });
  });

  it('does not return while the store drops rows, whatever the cause of the gap', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    const recorded = recorder.recorded(MARKET.marketId);
    if (recorded === null) throw new Error('the market is not recorded');
    recorder.trust.open(recorded, { cause: 'late_feed', knownTimeMs: T0 + 10, feed: 'binance' });
    recorder.trust.isStoreDown = true;
    play(wire.action(T0 + 100, [{ side: 'BUY', price: 4600, size: SHARE }]), T0 + 100);
    expect(sink.gaps).toMatchObject([{ cause: 'late_feed', endTimeMs: null }]);
    expect(sink.books.at(-1)).toMatchObject({ trusted: false });
    recorder.trust.isStoreDown = false;
    play(wire.action(T0 + 200, [{ side: 'BUY', price: 4500, size: 11 * SHARE }]), T0 + 200);
    expect(sink.gaps.at(-1)).toMatchObject({ cause: 'late_feed', endTimeMs: T0 + 200, repairedBy: 'action' });
  });

  it('is lost at once with an unreadable frame of the book, and returns with the next proof', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    const [frame] = wire.action(T0 + 1, [{ side: 'BUY', price: 4900, size: 5 * SHARE }]);
    play([frame?.replaceAll('"BUY"', '"PURCHASE"')], T0 + 50);
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, endTimeMs: null, cause: 'frame_rejected' }]);
    expect(sink.quotes.at(-1)).toMatchObject({ trusted: false });
    // A trade alone proves nothing about the book.
    play([wire.trade(T0 + 60, { price: 5000, size: SHARE })], T0 + 60);
    expect(sink.gaps.at(-1)).toMatchObject({ endTimeMs: null });
    play(wire.books(T0 + 70), T0 + 70);
    recorder.finishQuiet(T0 + 100);
    expect(sink.gaps.at(-1)).toMatchObject({ endTimeMs: T0 + 70, repairedBy: 'snapshot' });
  });

  it('is reported with the time since which it and the best prices are unchanged', () => {
    const { recorder, wire, play } = setUp();
    const shown = () => recorder.recorded(MARKET.marketId)?.liveBook();
    expect(shown()).toBe(null);
    play([wire.snapshot(T0)], T0);
    expect(shown()).toMatchObject({ trusted: true, quotedTimeMs: T0 });
    // Below the best bid.
    play(wire.action(T0 + 1, [{ side: 'BUY', price: 4800, size: 5 * SHARE }]), T0 + 10);
    expect(shown()).toMatchObject({ quotedTimeMs: T0 });
    play(wire.action(T0 + 2, [{ side: 'BUY', price: 4900, size: 0 }]), T0 + 20);
    expect(shown()).toMatchObject({ quotedTimeMs: T0 + 20 });
    recorder.distrust(recorder.recorded(MARKET.marketId) as RecordedMarket, {
      cause: 'clock_step',
      knownTimeMs: T0 + 30,
    });
    expect(shown()).toMatchObject({ trusted: false, quotedTimeMs: T0 + 30 });
    play([wire.action(T0 + 3, LOST)[0]], T0 + 40);
    expect(shown()).toBe('unfinished');
  });

  it.each(['best_bid_ask', 'market_resolved'])('is not lost with an unreadable %s', (kind) => {
    const { sink, wire, play } = setUp();
    play([wire.snapshot(T0), `{"event_type":"${kind}","market":"${MARKET.marketId}"}`], T0);
    expect(sink.gaps).toEqual([]);
  });

  it('is lost with a message of an unknown protocol version, counted each time and logged once', async () => {
    const logged: unknown[] = [];
    const log = { ...silentLogger, warn: (...line: unknown[]) => void logged.push(line) };
    const { sink, recorder, wire, metrics, play } = setUp(MARKET, log as never);
    const other = { ...MARKET, marketId: `0x${'cd'.repeat(32)}`, yesTokenId: '3', noTokenId: '4' };
    recorder.track(other);
    play([wire.snapshot(T0)], T0);
    const stated = wire.books(T0 + 1).map((book) => JSON.stringify({ ...JSON.parse(book), version: 'v3' }));
    const second = new WireMarket(other);
    second.set({ side: 'BUY', price: 4900, size: SHARE });
    const frame = `[${stated.join(',')},${second.snapshot(T0 + 1).slice(1)}`;
    expect(recorder.clobFrame(frame, T0 + 5)).toBe(false);
    play(stated, T0 + 6);
    const { marketId } = MARKET;
    expect(sink.gaps).toMatchObject([
      { marketId, cause: 'frame_rejected', startTimeMs: T0, endTimeMs: null },
    ]);
    expect(sink.quotes.findLast((quote) => quote.marketId === marketId)?.trusted).toBe(false);
    // The other market of the same frame is not affected.
    recorder.finishQuiet(T0 + 100);
    expect(sink.books.at(-1)).toMatchObject({ marketId: other.marketId, trusted: true });
    const text = await metrics.registry.metrics();
    expect(text).toContain('underround_unknown_versions_total{where="frame"} 4');
    const reports = logged.filter((line) => (line as unknown[])[1] === 'protocol.version_unknown');
    expect(reports).toEqual([
      [{ where: 'frame', market: marketId, version: 'v3', timeMs: T0 + 5 }, 'protocol.version_unknown'],
    ]);
  });

  it('does not return with a good book while the store accepts no rows', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    const recorded = recorder.recorded(MARKET.marketId);
    if (recorded === null) throw new Error('not recorded');
    recorder.trust.isStoreDown = true;
    recorder.trust.open(recorded, { cause: 'store_down', knownTimeMs: T0, feed: 'underround' });
    play(wire.books(T0 + 100), T0 + 100);
    play(wire.action(T0 + 200, [{ side: 'BUY', price: 4900, size: 5 * SHARE }]), T0 + 200);
    expect(sink.books.at(-1)).toMatchObject({ trusted: false });
    recorder.trust.isStoreDown = false;
    recorder.rewrite(recorded, T0 + 300);
    expect(sink.gaps.at(-1)).toMatchObject({ startTimeMs: T0, endTimeMs: T0 + 200, repairedBy: 'store' });
    expect(sink.gaps.at(-1)).toMatchObject({ startReceivedMs: T0, endReceivedMs: T0 + 300 });
    expect(sink.books.at(-1)).toMatchObject({ trusted: true });
    expect(sink.quotes.at(-1)).toMatchObject({ trusted: true });
  });

  it('is lost from the row on that is named, where later ones are doubtful too', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    const recorded = recorder.recorded(MARKET.marketId) as RecordedMarket;
    const start = recorded.gapStart;
    play(wire.action(T0 + 100, [{ side: 'BUY', price: 4900, size: 5 * SHARE }]), T0 + 100);
    recorder.trust.open(recorded, { cause: 'store_down', start, knownTimeMs: T0 + 200 });
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, startReceivedMs: T0, knownTimeMs: T0 + 200 }]);
  });

  it('stays while the store accepts no rows, if the market has lost none', () => {
    const { sink, recorder, wire, play } = setUp();
    play([wire.snapshot(T0)], T0);
    recorder.trust.isStoreDown = true;
    play(wire.action(T0 + 100, [{ side: 'BUY', price: 4900, size: 5 * SHARE }]), T0 + 100);
    expect(sink.gaps).toEqual([]);
    expect(sink.books.at(-1)).toMatchObject({ eventTimeMs: T0 + 100, trusted: true });
  });
});

const BATCH = 'polymarket/ww-shan-polyFIFA2026/bid-cancel-batch.jsonl';

describe.skipIf(recordingsAbsent)(
  'a recorded batch of cancels (skipped where the recordings are absent)',
  () => {
    const frames = recordingsAbsent
      ? []
      : recordingLines(BATCH).map((line) => {
          const parsed = JSON.parse(line);
          return typeof parsed.frame === 'string' ? (parsed.frame as string) : line;
        });
    const changeAt = frames.flatMap((frame, i) => (frame.includes('"price_change"') ? [i] : []));

    function play(kept: readonly string[]) {
      const [first] = mapClobFrame(frames[0] ?? '', T0).filter(({ kind }) => kind === 'book_snapshot');
      const tokens = new Set<string>();
      for (const frame of frames)
        for (const event of mapClobFrame(frame, T0)) {
          if (event.kind === 'book_snapshot') tokens.add(event.tokenId);
        }
      const [yesTokenId = '', noTokenId = ''] = tokens;
      const market = { ...MARKET, marketId: first?.marketId ?? '', yesTokenId, noTokenId, tickSize: 10 };
      const set = setUp(market);
      kept.forEach((frame, i) => void set.recorder.clobFrame(frame, T0 + i));
      return { ...set, market };
    }

    it('is published whole or not at all', () => {
      const whole = play(frames);
      expect(whole.sink.books.map(({ trusted }) => trusted)).toEqual([true, true]);
      for (const at of changeAt) {
        const half = play(frames.slice(0, at));
        expect(half.sink.books, `before frame ${at}`).toHaveLength(1);
      }
    });

    it('leaves the book untrusted until the next book when any one of its frames is missing', () => {
      const { recorder, market } = play(frames);
      const last = recorder.recorded(market.marketId)?.book;
      if (last === undefined) throw new Error('not recorded');
      const books = [last.yes, last.no].map(
        (token) =>
          `{"market":"${market.marketId}","asset_id":"${token.tokenId}","timestamp":"${token.timeMs}",` +
          `"hash":"${token.announcedHash}","bids":${token.bids.toWireJson()},"asks":${token.asks.toWireJson()},` +
          `"event_type":"book"}`,
      );
      for (const missing of changeAt) {
        const set = play(frames.filter((_, i) => i !== missing && (i <= missing || changeAt.includes(i))));
        set.recorder.finishQuiet(T0 + 500);
        expect(set.sink.quotes.at(-1), `without frame ${missing}`).toMatchObject({ trusted: false });
        set.recorder.finishQuiet(T0 + 2000);
        expect(set.sink.gaps).toMatchObject([{ endTimeMs: null, cause: 'book_mismatch' }]);
        for (const book of books) set.recorder.clobFrame(book, T0 + 3000);
        set.recorder.finishQuiet(T0 + 3100);
        expect(set.sink.quotes.at(-1)).toMatchObject({ trusted: true });
        const end = { endTimeMs: last.eventTimeMs, endReceivedMs: T0 + 3000 };
        expect(set.sink.gaps.at(-1)).toMatchObject({ ...end, repairedBy: 'snapshot' });
      }
    });
  },
);
