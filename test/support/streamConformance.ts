import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordStream, StreamMessage, StreamPlace, StreamWork } from '../../src/bus/recordStream.ts';
import { book } from './records.ts';
import { eventually } from './runningService.ts';
import { aliveAt } from './streamBodies.ts';
import { plainMessage } from './streamMessages.ts';
import { numbered, tradeIdOf, tradeOf } from './streamTrades.ts';

interface StreamDriver {
  /** A new process that uses the stream. */
  connect(): Promise<RecordStream>;
  stop(): Promise<void>;
}

interface Received {
  readonly message: StreamMessage;
  readonly place: StreamPlace;
}

function alive(number: number): StreamMessage {
  return { kind: 'alive', id: `alive/a/1/${number}`, key: null, sender: 'a', run: '1', body: aliveAt(0) };
}

/** Every driver of `RecordStream` passes these tests. Each test uses markets of its own in one stream. */
export function describeRecordStream(
  name: string,
  start: () => Promise<StreamDriver>,
  isAbsent = false,
): void {
  describe.skipIf(isAbsent)(`a record stream: ${name}`, () => {
    let driver: StreamDriver;
    let stream: RecordStream;
    let other: RecordStream;
    beforeAll(async () => {
      driver = await start();
      stream = await driver.connect();
      other = await driver.connect();
    });
    afterAll(async () => {
      await other?.close();
      await stream?.close();
      await driver?.stop();
    });

    const publish = (marketId: string, from: number, to: number, sender = stream) => {
      for (const tradeId of numbered(from, to)) sender.publish(tradeOf(marketId, tradeId));
    };
    /** Follows the stream from a number on and keeps the messages of one market. */
    const following = async (marketId: string, fromSeq: number, partition?: number) => {
      const received: Received[] = [];
      const reader = await other.follow(
        partition === undefined ? { fromSeq } : { fromSeq, partition },
        (message, place) => {
          if (message.key === marketId) received.push({ message, place });
        },
      );
      return { received, ...reader };
    };
    const received = (list: readonly unknown[], count: number) =>
      eventually(`${count} messages`, async () => list.length >= count);

    it('gives followers all messages in order, with places that rise', async () => {
      publish('order', 1, 500);
      const { received: list, stop } = await following('order', 0);
      await received(list, 500);
      publish('order', 501, 600);
      await received(list, 600);
      await stop();
      expect(list.map(tradeIdOf)).toEqual(numbered(1, 600));
      const seqs = list.map(({ place }) => place.streamSeq);
      expect(seqs).toEqual([...new Set(seqs)].sort((a, b) => a - b));
      const times = list.map(({ place }) => place.timeMs);
      expect(times).toEqual([...times].sort((a, b) => a - b));
      expect(new Set(list.map(({ place }) => place.partition)).size).toBe(1);
    });

    it('keeps the first of messages with the same id, from any process', async () => {
      publish('same', 1, 3);
      publish('same', 1, 3);
      const { received: list, stop } = await following('same', 0);
      await received(list, 3);
      publish('same', 2, 5, other);
      await received(list, 5);
      await stop();
      expect(list.map(tradeIdOf)).toEqual(numbered(1, 5));
    });

    it('follows from a number on, also one partition alone', async () => {
      // In the last partition of four: the one beside it is number 0.
      const marketId = 'market';
      publish(marketId, 1, 10);
      const all = await following(marketId, 0);
      await received(all.received, 10);
      await all.stop();
      const fifth = all.received[4] as Received;
      const later = await following(marketId, fifth.place.streamSeq, fifth.place.partition);
      await received(later.received, 6);
      await later.stop();
      expect(later.received.map(tradeIdOf)).toEqual(numbered(5, 10));
      expect(later.received[0]?.place).toEqual(fifth.place);
      const elsewhere: (string | null)[] = [];
      const partition = (fifth.place.partition + 1) % stream.partitions;
      const reader = await other.follow({ fromSeq: 0, partition }, ({ key }) => elsewhere.push(key));
      stream.publish(alive(0));
      await eventually('a message to all partitions', async () => elsewhere.includes(null));
      await reader.stop();
      expect(elsewhere).not.toContain(marketId);
    });

    it('gives nothing to a reader that has stopped, or whose stream is closed', async () => {
      const fromSeq = (await stream.lastSeq()) + 1;
      const ids: string[] = [];
      const onMessage = (message: StreamMessage) => void ids.push(tradeIdOf({ message }));
      const closing = await driver.connect();
      await closing.follow({ fromSeq }, onMessage);
      const stopping = await other.follow({ fromSeq }, onMessage);
      publish('closed', 1, 1);
      await eventually('the first message of both', async () => ids.length === 2);
      await stopping.stop();
      await closing.close();
      publish('closed', 2, 2);
      const { received: list, stop } = await following('closed', fromSeq);
      await received(list, 2);
      await stop();
      expect(ids).toEqual(['t1', 't1']);
    });

    it('gives a message without a key to every partition once', async () => {
      const places: number[] = [];
      const from = await stream.lastSeq();
      const reader = await other.follow({ fromSeq: from + 1 }, ({ kind }, { partition }) => {
        if (kind === 'alive') places.push(partition);
      });
      stream.publish(alive(1));
      stream.publish(alive(1));
      publish('after alive', 1, 1);
      const after = await following('after alive', from + 1);
      await received(after.received, 1);
      await received(places, stream.partitions);
      await reader.stop();
      await after.stop();
      expect([...places].sort()).toEqual(Array.from({ length: stream.partitions }, (_, index) => index));
    });

    it('copies the views of a book', async () => {
      const yes = book([[4_000, 5_000_000]], [[4_100, 7_123_456]]);
      const no = book([[5_900, 7_123_456]], [[6_000, 5_000_000]]);
      const times = { eventTimeMs: 1, receivedTimeMs: 2, trusted: true, underlyingPrice: null };
      const message: StreamMessage = {
        kind: 'action',
        id: 'action/view',
        key: 'view',
        sender: 'a',
        run: '1',
        body: {
          ...{ book: { marketId: 'view', ...times, yes, no, mirrored: true }, quote: null },
          ...{ ladderHash: 'h', occurrence: 0, isRepeated: false },
        },
      };
      const before = structuredClone(plainMessage(message));
      stream.publish(message);
      yes.bids.sizes[0] = 1;
      const { received: list, stop } = await following('view', 0);
      await received(list, 1);
      await stop();
      expect(plainMessage((list[0] as Received).message)).toEqual(before);
    });

    it('gives a worker the messages of its partition until they are acknowledged', async () => {
      publish('work', 1, 50);
      const { received: list, stop } = await following('work', 0);
      await received(list, 50);
      await stop();
      const partition = (list[0] as Received).place.partition;
      const handled: string[] = [];
      let failures = 0;
      const keep = (work: StreamWork) => {
        for (const item of work) {
          expect(item.place.partition).toBe(partition);
          if (item.message.key === 'work') handled.push(tradeIdOf(item));
        }
      };
      const first = await stream.work({ partition }, async (work) => {
        if (failures++ < 1) throw new Error('not yet');
        keep(work);
      });
      await received(handled, 50);
      await first.stop();
      expect(handled).toEqual(numbered(1, 50));
      // Another process goes on behind them.
      publish('work', 51, 60);
      const second = await other.work({ partition }, async (work) => keep(work));
      await received(handled, 60);
      await second.stop();
      expect(handled).toEqual(numbered(1, 60));
    });

    it('begins the work of a partition behind a given message if no worker has passed it', async () => {
      publish('place', 1, 5);
      const { received: list, stop } = await following('place', 0);
      await received(list, 5);
      await stop();
      const { partition, ...after } = (list[2] as Received).place;
      const handled: string[] = [];
      const worker = await stream.work({ partition, after }, async (work) => {
        handled.push(...work.filter(({ message }) => message.key === 'place').map(tradeIdOf));
      });
      await received(handled, 2);
      await worker.stop();
      expect(handled).toEqual(numbered(4, 5));
    });

    it('gives a worker again what a dead one did not acknowledge, before newer messages and after older ones', async () => {
      publish('dead', 1, 2);
      const { received: list, stop } = await following('dead', 0);
      await received(list, 2);
      await stop();
      const partition = (list[0] as Received).place.partition;
      const idsOf = (work: StreamWork) => work.filter(({ message }) => message.key === 'dead').map(tradeIdOf);
      const acknowledged: string[] = [];
      const before = await other.work({ partition }, async (work) => void acknowledged.push(...idsOf(work)));
      await received(acknowledged, 2);
      await before.stop();
      publish('dead', 3, 7);
      const seen: string[] = [];
      const dying = await driver.connect();
      let isStopping = false;
      const first = await dying.work({ partition }, async (work) => {
        seen.push(...idsOf(work));
        if (!isStopping) throw new Error('dies');
      });
      await received(seen, 5);
      const stopped = first.stop();
      isStopping = true;
      await stopped;
      await dying.close();
      publish('dead', 8, 10);
      const handled: string[] = [];
      const second = await other.work({ partition }, async (work) => void handled.push(...idsOf(work)));
      await received(handled, 8);
      await second.stop();
      expect(handled).toEqual(numbered(3, 10));
    });

    it('numbers the newest message last', async () => {
      publish('last', 1, 3);
      const { received: list, stop } = await following('last', 0);
      await received(list, 3);
      await stop();
      expect(await other.lastSeq()).toBeGreaterThanOrEqual(list.at(-1)?.place.streamSeq ?? Number.NaN);
      expect(other.reasons()).toEqual([]);
    });
  });
}
