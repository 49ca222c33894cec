import { expect, it } from 'vitest';
import {
  BatchQueue,
  type SocketBatch,
  type SocketEvent,
  SocketEventBatcher,
  WaitingBytes,
} from './handover.ts';

const frame = (id: number, text = 'x'): SocketEvent => ['frame', id, 10 * id, text, text.length];
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

it('bytes stop the reading above the limit, and request it once when half of it is left', () => {
  const sender = new WaitingBytes(100);
  const receiver = new WaitingBytes(100, sender.shared);
  expect([sender.add(100), sender.isPaused, receiver.bytes]).toEqual([false, false, 100]);
  expect([sender.add(1), receiver.isPaused]).toEqual([true, true]);
  expect([receiver.subtract(50), receiver.isPaused]).toEqual([false, true]);
  expect([receiver.subtract(1), sender.isPaused]).toEqual([true, false]);
  expect([receiver.subtract(50), sender.bytes]).toEqual([false, 0]);
});

it('batches leave in the order of their arrival, with the time of the oldest event that waits', () => {
  const queue = new BatchQueue();
  const batches = Array.from({ length: 5 }, (_, id): SocketBatch => {
    return { events: [frame(id + 1), frame(id + 2)], bytes: id };
  });
  expect([queue.isEmpty, queue.oldestMs, queue.next()]).toEqual([true, null, null]);
  for (const batch of batches) queue.add(batch);
  for (const batch of batches) {
    expect([queue.isEmpty, queue.oldestMs]).toEqual([false, batch.events[0]?.[2]]);
    expect(queue.next()).toBe(batch);
  }
  expect([queue.isEmpty, queue.oldestMs, queue.next()]).toEqual([true, null, null]);
  queue.add({ events: [], bytes: 0 });
  expect([queue.isEmpty, queue.oldestMs]).toEqual([false, null]);
});

it('the events of one turn are one message, and a large one is sent before the turn ends', async () => {
  const posted: SocketBatch[] = [];
  const waiting = new WaitingBytes(300_000);
  const steps: string[] = [];
  const batcher = new SocketEventBatcher({
    port: { postMessage: (batch: SocketBatch) => steps.push(`posted ${posted.push(batch)}`) } as never,
    ...{ waiting, onFull: () => steps.push(`full at ${waiting.bytes}`) },
  });
  batcher.add(['open', 1, 5], 0);
  batcher.add(frame(1), 1);
  expect(posted).toEqual([]);
  await nextTurn();
  expect(posted).toEqual([{ events: [['open', 1, 5], frame(1)], bytes: 201 }]);
  batcher.add(frame(2), 256 * 1024 - 101);
  expect(posted).toHaveLength(1);
  batcher.add(frame(3), 50_000);
  expect(posted[1]).toEqual({ events: [frame(2), frame(3)], bytes: 256 * 1024 + 50_099 });
  expect(steps).toEqual(['posted 1', 'posted 2', 'full at 312444']);
  await nextTurn();
  expect(posted).toHaveLength(2);
});
