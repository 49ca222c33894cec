import { expect, test } from 'vitest';
import { ChangeLog, RETAINED_MS } from './changeLog.ts';
import type { StreamedMarket } from './streamedMarket.ts';
import { StreamMessage } from './streamMessage.ts';

const BYTES = 100;

function rig(bytesMax = 1_000) {
  const log = new ChangeLog({ startSeq: 5, bytesMax });
  const dropped: number[] = [];
  const market = { onDropped: ({ seq }: StreamMessage) => dropped.push(seq) } as unknown as StreamedMarket;
  const print = () => {
    throw new Error('printed');
  };
  const append = (seq: number, timeMs: number) =>
    log.append({
      market,
      timeMs,
      message: new StreamMessage({ seq, change: 1, trusted: true }, { bytes: BYTES, print }),
    });
  return { log, dropped, append };
}

test('a message is kept for a minute, to the millisecond', () => {
  const { log, dropped, append } = rig();
  append(6, 0);
  append(7, 1);
  log.drop(RETAINED_MS);
  expect([dropped, log.bytes]).toEqual([[], 2 * BYTES]);
  log.drop(RETAINED_MS + 1);
  expect([dropped, log.bytes, log.firstIndex, log.headIndex]).toEqual([[6], BYTES, 2, 2]);
});

test('the oldest messages are dropped above the most bytes', () => {
  const { dropped, append } = rig(3 * BYTES);
  for (let seq = 6; seq < 10; seq++) append(seq, 0);
  expect(dropped).toEqual([6]);
});

test('the head is the newest record, whether it gave a message or not, and never goes back', () => {
  const { log, append } = rig();
  append(8, 0);
  log.reach(12);
  log.reach(9);
  expect(log.head).toEqual({ index: 1, seq: 12 });
  expect(() => append(11, 0)).toThrow(new RangeError('record 11 after 12'));
});
