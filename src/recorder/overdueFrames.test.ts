import { describe, expect, it } from 'vitest';
import { recordedWire } from '../../test/support/recordedWire.ts';

const T0 = 1_795_176_010_000;
const SHARE = 1_000_000;
const LOST = [
  { side: 'BUY', price: 4900, size: 0 },
  { side: 'BUY', price: 4800, size: 0 },
] as const;

function setUp() {
  const rig = recordedWire(T0);
  rig.play([rig.wire.snapshot(T0)], T0);
  return rig;
}

const buy = (price: number, shares: number) => ({ side: 'BUY', price, size: shares * SHARE }) as const;

describe('the trust in a book with late frames', () => {
  it.each([
    ['never', 'up to a second', 1_000, []],
    ['in a closed gap', 'more than a second', 1_001, [{ startTimeMs: T0, endTimeMs: T0 + 1_101 }]],
  ])('was lost %s, when missing frames are %s older than the state that contains them', (...row) => {
    const [, , olderByMs, gaps] = row;
    const { sink, recorder, wire, play } = setUp();
    const late = wire.action(T0 + 100, [buy(4700, 7)]);
    const nextMs = T0 + 100 + olderByMs;
    play(wire.action(nextMs, [buy(4800, 7)]), nextMs);
    recorder.finishQuiet(nextMs + 30);
    play(late, nextMs + 40);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true, eventTimeMs: nextMs });
    expect(sink.gaps).toMatchObject(gaps);
  });

  it('was lost in a closed gap, when frames of more than a second ago complete an action', () => {
    const { sink, wire, play } = setUp();
    const late = wire.action(T0 + 100, [buy(4700, 7)]);
    const [first, rest] = wire.action(T0 + 1_500, LOST);
    play([first, ...late, rest], T0 + 1_500);
    expect(sink.books.at(-1)).toMatchObject({ trusted: true, eventTimeMs: T0 + 1_500 });
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, endTimeMs: T0 + 1_500, cause: 'book_mismatch' }]);
  });

  it.each([
    ['after', (late: string[], trade: string) => [...late, trade]],
    ['before', (late: string[], trade: string) => [trade, ...late]],
  ])('was lost in a closed gap, when they arrive %s the late message of a trade', (_, ordered) => {
    const { sink, recorder, wire, play } = setUp();
    const late = wire.action(T0 + 100, [buy(4700, 7)]);
    const trade = wire.trade(T0 + 1_500, { price: 3300, size: SHARE });
    play(wire.action(T0 + 1_500, [buy(4800, 7)]), T0 + 1_500);
    recorder.finishQuiet(T0 + 1_530);
    play(ordered(late, trade), T0 + 1_600);
    recorder.finishQuiet(T0 + 9_000);
    expect(sink.quotes.at(-1)).toMatchObject({ trusted: true });
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, endTimeMs: T0 + 1_500, cause: 'book_mismatch' }]);
  });

  it('was lost in a closed gap, when a later state has set their level again', () => {
    const { sink, recorder, wire, play } = setUp();
    const late = wire.action(T0 + 100, [buy(4700, 7)]);
    const trade = wire.trade(T0 + 1_500, { price: 3300, size: SHARE });
    play(wire.action(T0 + 1_500, [buy(4800, 7)]), T0 + 1_505);
    play(wire.action(T0 + 1_550, [buy(4700, 8)]), T0 + 1_555);
    recorder.finishQuiet(T0 + 1_580);
    play(late, T0 + 1_600);
    play([trade], T0 + 1_700);
    recorder.finishQuiet(T0 + 9_000);
    expect(sink.quotes.at(-1)).toMatchObject({ trusted: true });
    expect(sink.gaps).toMatchObject([{ startTimeMs: T0, endTimeMs: T0 + 1_550, cause: 'book_mismatch' }]);
  });
  it('was never lost when the first state that lacks them is at most a second newer, and later ones are more', () => {
    const { sink, recorder, wire, play } = setUp();
    const late = wire.action(T0 + 100, [buy(4700, 7)]);
    const trade = wire.trade(T0 + 900, { price: 3300, size: SHARE });
    play(wire.action(T0 + 900, [buy(4800, 7)]), T0 + 900);
    play(wire.action(T0 + 1_150, [buy(4600, 7)]), T0 + 1_150);
    play(wire.action(T0 + 1_160, [buy(4700, 8)]), T0 + 1_160);
    play(late, T0 + 1_200);
    play([trade], T0 + 1_300);
    recorder.finishQuiet(T0 + 9_000);
    expect(sink.quotes.at(-1)).toMatchObject({ trusted: true });
    expect(sink.gaps).toEqual([]);
  });

  it('was never lost when they are copies of frames that arrived in time', () => {
    const { sink, recorder, wire, play } = setUp();
    const frames = wire.action(T0 + 100, [buy(4700, 7)]);
    play(frames, T0 + 105);
    const trade = wire.trade(T0 + 1_500, { price: 3300, size: SHARE });
    play(wire.action(T0 + 1_500, [buy(4800, 7)]), T0 + 1_505);
    recorder.finishQuiet(T0 + 1_530);
    play(frames, T0 + 1_560);
    play([trade], T0 + 1_700);
    recorder.finishQuiet(T0 + 9_000);
    expect(sink.quotes.at(-1)).toMatchObject({ trusted: true });
    expect(sink.gaps).toEqual([]);
  });
});
