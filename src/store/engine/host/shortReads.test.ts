import { expect, test } from 'vitest';
import { FakeClock } from '../../../../test/support/fakeClock.ts';
import { ShortReads, YIELD_BEHIND_MS_MAX, YIELD_IN_TURN_MS_MAX, YIELD_SHARING_MS_MAX } from './shortReads.ts';

function rig() {
  const clock = new FakeClock();
  const reads = new ShortReads(clock);
  const begin = () => {
    let end: (error?: Error) => void = () => undefined;
    const read = reads.run(
      () =>
        new Promise<void>((resolve, reject) => {
          end = (error) => (error ? reject(error) : resolve());
        }),
    );
    return (error?: Error) => {
      end(error);
      return read.catch(() => undefined);
    };
  };
  const yielded = ({ isReaderBehind = true } = {}) => {
    const state = { isOver: false };
    void reads.beforeBlock({ isReaderBehind }).then(() => {
      state.isOver = true;
    });
    return state;
  };
  return { clock, reads, begin, yielded };
}

test('a long answer goes on at once while no short read is in progress', async () => {
  const { clock, yielded } = rig();
  const waiting = yielded();
  await clock.advance(0);
  expect(waiting.isOver).toBe(true);
});

test('a long answer waits for every short read, failed ones too', async () => {
  const { clock, begin, yielded } = rig();
  const [one, other] = [begin(), begin()];
  const waiting = [yielded(), yielded()];
  await one();
  await clock.advance(0);
  expect(waiting.map(({ isOver }) => isOver)).toEqual([false, false]);
  await other(new Error('refused'));
  await clock.advance(0);
  expect(waiting.map(({ isOver }) => isOver)).toEqual([true, true]);
  expect(clock.waiting).toBe(0);
});

test('a long answer whose reader is behind waits for a second at most', async () => {
  const { clock, begin, yielded } = rig();
  const read = begin();
  const waiting = yielded();
  await clock.advance(YIELD_BEHIND_MS_MAX - 1);
  expect(waiting.isOver).toBe(false);
  await clock.advance(1);
  expect(waiting.isOver).toBe(true);
  await read();
});

test('a single long answer does not wait while its reader takes every block', async () => {
  const { clock, reads, begin, yielded } = rig();
  reads.beginLongAnswer();
  const read = begin();
  const waiting = yielded({ isReaderBehind: false });
  await clock.advance(0);
  expect(waiting.isOver).toBe(true);
  await read();
});

test('one of several long answers waits for a quarter of a second at most, until the others have ended', async () => {
  const { clock, reads, begin, yielded } = rig();
  reads.beginLongAnswer();
  const endOther = reads.beginLongAnswer();
  const read = begin();
  const waiting = yielded({ isReaderBehind: false });
  await clock.advance(YIELD_SHARING_MS_MAX - 1);
  expect(waiting.isOver).toBe(false);
  await clock.advance(1);
  expect(waiting.isOver).toBe(true);
  endOther();
  const alone = yielded({ isReaderBehind: false });
  await clock.advance(0);
  expect(alone.isOver).toBe(true);
  await read();
});

test('an answer that has its turn waits for a short read for a twentieth of a second at most', async () => {
  const { clock, reads, begin } = rig();
  const read = begin();
  let isOver = false;
  void reads.inTurn({ isReaderBehind: true }).then(() => {
    isOver = true;
  });
  await clock.advance(YIELD_IN_TURN_MS_MAX - 1);
  expect(isOver).toBe(false);
  await clock.advance(1);
  expect(isOver).toBe(true);
  await read();
});
