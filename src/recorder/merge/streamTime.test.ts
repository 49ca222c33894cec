import type { JetStreamManager, JsMsg } from '@nats-io/jetstream';
import { expect, it } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import type { PlacedMessage } from '../../../test/support/numberedStream.ts';
import { aliveAt } from '../../../test/support/streamBodies.ts';
import { T0, TwoCollectors } from '../../../test/support/twoCollectors.ts';
import { ReadPosition } from '../../bus/nats/readPosition.ts';
import type { StreamParts } from '../../bus/nats/streamParts.ts';
import { encodeMessage } from '../../bus/wire/message.ts';
import { Random } from '../../core/random.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import { StreamMerge } from './streamMerge.ts';

const SEEDS = 2;
const FAULTS = { kill: 0.02, disconnect: 0.01, partition: 0.02, partitionMsMax: 9_000 };
/** Where the clock of a server is behind that of the one before it, by up to so much. */
const BEHIND_MS_MAX = 3_000;
const unused = null as unknown as JetStreamManager;

/** A message as JetStream delivers it: its time is that of the server that led the stream. */
function delivered({ message, place }: PlacedMessage): JsMsg {
  const { streamSeq, timeMs, partition } = place;
  const info = { streamSequence: streamSeq, timestampNanos: timeMs * 1_000_000 };
  return {
    subject: `u.${partition}.${message.kind}`,
    data: encodeMessage(message),
    info,
  } as unknown as JsMsg;
}

/** A stream of two partitions whose leaders' clocks differ: each message is in both. */
function withTwoLeaders(placed: readonly PlacedMessage[], random: Random): PlacedMessage[] {
  let behindMs = 0;
  return placed.flatMap(({ message, place }) => {
    if (random.chance(0.01)) behindMs = random.below(BEHIND_MS_MAX);
    return [0, 1].map((partition) => {
      const timeMs = place.timeMs - (partition === 0 ? behindMs : 0);
      return { message, place: { streamSeq: 2 * place.streamSeq + partition, timeMs, partition } };
    });
  });
}

/** The records that a process computes, and at last its state. It stops and starts again before a message. */
async function merged(
  messages: readonly PlacedMessage[],
  options: { partition: number; isPartial: boolean; restartAt: number | null },
): Promise<string[]> {
  const { partition, isPartial, restartAt } = options;
  const parts = { log: silentLogger, metrics: new Metrics(), clock: new FakeClock(T0), prefix: 'u' };
  const open = () =>
    new ReadPosition(parts as unknown as StreamParts, { reader: 'test', next: 0, isPartial });
  let reader = open();
  let merge = new StreamMerge({ baseSeq: 0 });
  const records: string[] = [];
  for (const [at, placed] of messages.entries()) {
    if (isPartial && placed.place.partition !== partition) continue;
    if (restartAt !== null && at >= restartAt && at < restartAt + 2) {
      reader = open();
      merge = new StreamMerge({ baseSeq: 0, state: JSON.parse(JSON.stringify(merge.state)) });
    }
    const read = await reader.accept(delivered(placed), unused);
    if (read === null || read.place.partition !== partition) continue;
    records.push(...merge.step(read.message, read.place).map((record) => JSON.stringify(record)));
  }
  return [...records, JSON.stringify(merge.state)];
}

it.each(Array.from({ length: SEEDS }, (_, seed) => seed))(
  'every process computes the same records, whatever else it reads and wherever it began (seed %i)',
  async (seed) => {
    const random = new Random(`leaders ${seed}`);
    const model = new TwoCollectors(`leaders ${seed}`, { faults: [FAULTS, FAULTS] });
    await model.run(250);
    const messages = withTwoLeaders(model.stream.placed, random);
    const expected = await merged(messages, { partition: 0, isPartial: true, restartAt: null });
    expect(expected.length).toBeGreaterThan(100);
    for (const isPartial of [true, false])
      for (const restartAt of [null, random.below(messages.length), random.below(messages.length)])
        expect(await merged(messages, { partition: 0, isPartial, restartAt })).toEqual(expected);
  },
);

it("a server's clock that is behind does not move the merge's time back", () => {
  const merge = new StreamMerge({ baseSeq: 0 });
  const alive = { kind: 'alive', id: 'a', key: null, sender: 'a', run: '1', body: aliveAt(T0) } as const;
  merge.step(alive, { streamSeq: 1, timeMs: T0 + 1_000, partition: 0 });
  merge.step(alive, { streamSeq: 2, timeMs: T0, partition: 0 });
  expect(merge.state.timeMs).toBe(T0 + 1_000);
});
