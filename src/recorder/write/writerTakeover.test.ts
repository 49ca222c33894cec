import { describe, expect, test } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { MemoryValues } from '../../../test/support/memoryElection.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { range, trade, tradeSeqs } from '../../../test/support/writerRig.ts';
import type { RecordStream, SharedValues, StreamMessage, StreamWork } from '../../bus/recordStream.ts';
import { silentLogger } from '../../runtime/log.ts';
import { Metrics } from '../../runtime/metrics.ts';
import type { InsertClient } from '../../store/journal/rowInserter.ts';
import { PartitionWriter } from '../../store/partitionWriter.ts';
import { type Merge, PartitionWorker } from './partitionWorker.ts';

/** How the operation of a process ends at which it stops: its effect happens never, at once, or during a later process. */
type End = 'never' | 'unanswered' | 'delayed' | 'paused';

interface Stop {
  /** Number of the operation, from 0. */
  readonly at: number;
  readonly end: End;
}

/** The outside world of one process: after its stop it gets no answer any more. */
class Life {
  isOwner = true;
  operations = 0;
  /** Runs the delayed operation, and answers it if the process was only paused. */
  finish: (() => Promise<void>) | null = null;
  readonly #stop: Stop | null;
  readonly #onOperation: (number: number) => Promise<void>;
  #onStopped: () => void = () => undefined;
  readonly stopped = new Promise<void>((resolve) => {
    this.#onStopped = resolve;
  });

  constructor(stop: Stop | null, onOperation: (number: number) => Promise<void> = async () => undefined) {
    this.#stop = stop;
    this.#onOperation = onOperation;
  }

  async run<T>(operation: () => Promise<T>): Promise<T> {
    const number = this.operations++;
    await this.#onOperation(number);
    const { at, end } = this.#stop ?? { at: -1, end: 'never' };
    if (number !== at) return await operation();
    if (end === 'unanswered') await operation();
    const answer = new Promise<T>((resolve) => {
      this.finish = async () => {
        if (end === 'never' || end === 'unanswered') return;
        const result = await operation();
        if (end === 'paused') resolve(result);
      };
    });
    this.#onStopped();
    return await answer;
  }
}

/** A table of trades that remembers tokens, like the engine. */
class Engine {
  readonly stored: number[] = [];
  readonly #tokens = new Set<string>();

  clientOf(life: Life): InsertClient {
    return {
      insert: ({ data, token }) =>
        life.run(async () => {
          if (this.#tokens.has(token)) return;
          this.#tokens.add(token);
          this.stored.push(...tradeSeqs(Buffer.from(data)));
        }),
      rows: <T>() => life.run(async () => this.stored.map((seq) => ({ seq })) as T[]),
    };
  }
}

/** One partition that gives its messages in pieces; a piece comes again until it is handled. */
class PiecedStream {
  readonly messages: StreamWork[number][] = [];
  #handledSeq = 0;

  add(count: number): void {
    for (let index = 0; index < count; index++) {
      const streamSeq = this.messages.length + 1;
      const { seq: _, ...body } = trade(streamSeq);
      const id = `t${streamSeq}`;
      const message: StreamMessage = { kind: 'trade', id, key: 'm', sender: 'a', run: 'r', body };
      this.messages.push({ message, place: { streamSeq, timeMs: streamSeq, partition: 0 } });
    }
  }

  /** @returns The stream of one process, and when it has given all messages. */
  connect(pieceSize: number): { stream: RecordStream; drained: Promise<void> } {
    let onDrained: () => void = () => undefined;
    const drained = new Promise<void>((resolve) => {
      onDrained = resolve;
    });
    const stream: RecordStream = {
      ...{
        partitions: 1,
        baseSeq: 0,
        waiting: 0,
        isDropping: false,
        reasons: () => [],
        close: async () => undefined,
      },
      publish: () => undefined,
      lastSeq: async () => this.messages.length,
      follow: async ({ fromSeq }, onMessage) => {
        const wanted = this.messages.filter(({ place }) => place.streamSeq >= fromSeq);
        queueMicrotask(() => {
          for (const { message, place } of wanted) onMessage(message, place);
        });
        return { stop: async () => undefined };
      },
      work: async (_partition, handle) => {
        let isStopped = false;
        const run = async () => {
          while (!isStopped) {
            const piece = this.messages
              .filter(({ place }) => place.streamSeq > this.#handledSeq)
              .slice(0, pieceSize);
            if (piece.length === 0) break;
            await handle(piece).then(
              () => {
                this.#handledSeq = Math.max(this.#handledSeq, piece.at(-1)?.place.streamSeq ?? 0);
              },
              () => {
                isStopped = true;
              },
            );
          }
          onDrained();
        };
        const running = run();
        return {
          stop: async () => {
            isStopped = true;
            await running;
          },
        };
      },
    };
    return { stream, drained };
  }
}

/** One partition, its stream, values and engine, and the processes that store it one after the other. */
class Scene {
  readonly stream = new PiecedStream();
  readonly engine = new Engine();
  readonly values = new MemoryValues();
  readonly #clock = new FakeClock();
  readonly #dataDir = temporaryDirectory();

  /** Runs until all messages are stored or the process is stopped. */
  async run(life: Life, pieceSize: number): Promise<PartitionWorker | null> {
    const { stream, drained } = this.stream.connect(pieceSize);
    const parts = { partition: 0, clock: this.#clock, log: silentLogger };
    const isOwner = () => life.isOwner;
    const starting = PartitionWriter.open({
      ...{ ...parts, client: this.engine.clientOf(life), dataDir: this.#dataDir },
      ...{ metrics: new Metrics(), mayInsert: isOwner },
    }).then((store) =>
      PartitionWorker.start({
        ...{ ...parts, stream, values: this.#valuesOf(life), store, openMerge, isOwner },
        firstState: async () => 0,
      }),
    );
    const worker = await Promise.race([starting, life.stopped.then(() => null)]);
    await Promise.race([drained, life.stopped]);
    return worker;
  }

  async checkpoint(): Promise<unknown> {
    return JSON.parse(Buffer.from((await this.values.get('merge.0')) ?? []).toString());
  }

  #valuesOf(life: Life): SharedValues {
    return {
      get: (key) => life.run(() => this.values.get(key)),
      put: (key, value) => life.run(() => this.values.put(key, value)),
    };
  }
}

/** Numbers trades, and counts in its state the messages that it has seen. */
function openMerge(state: unknown): Merge {
  let count = (state as number | null) ?? 0;
  return {
    step: (message, { streamSeq }) => {
      count++;
      if (message.kind !== 'trade') return [];
      return [{ kind: 'trade', record: { ...message.body, seq: streamSeq } }];
    },
    state: () => count,
  };
}

/** The first process stops, the second one takes over, and a third one finds the partition complete. */
async function takeover(stop: Stop, { delay, pieceSize }: { delay: number; pieceSize: number }) {
  const scene = new Scene();
  scene.stream.add(6);
  const first = new Life(stop);
  const worker = await scene.run(first, 4);
  first.isOwner = false;
  scene.stream.add(2);
  let isFinished = false;
  const finish = async () => {
    if (isFinished) return;
    isFinished = true;
    await first.finish?.();
  };
  const second = new Life(null, async (number) => {
    if (number === delay) await finish();
  });
  const next = await scene.run(second, pieceSize);
  await finish();
  if (stop.end === 'paused') await worker?.stop();
  await next?.stop();
  scene.stream.add(3);
  await (await scene.run(new Life(null), 5))?.stop();
  const stored = scene.engine.stored.toSorted((a, b) => a - b);
  return { stored, checkpoint: await scene.checkpoint(), operations: second.operations };
}

/** Operations of the first process when it is not stopped. */
async function operationsOfOne(): Promise<number> {
  const scene = new Scene();
  scene.stream.add(6);
  const life = new Life(null);
  await (await scene.run(life, 4))?.stop();
  return life.operations;
}

const COMPLETE = { stored: range(1, 11), checkpoint: { streamSeq: 11, timeMs: 11, state: 11 } };

describe.each([1, 3, 10])('a writer that is replaced by one that gets %i messages at once', (pieceSize) => {
  test.each<End>(['never', 'unanswered', 'delayed', 'paused'])(
    'stores each row once, wherever it stops, with its last operation %s',
    async (end) => {
      const operations = await operationsOfOne();
      expect(operations).toBeGreaterThan(8);
      let runs = 0;
      for (let at = 0; at < operations; at++) {
        const lasts = end === 'delayed' || end === 'paused';
        for (let delay = 0, others = 1; delay < others; delay++) {
          const { operations: made, ...result } = await takeover({ at, end }, { delay, pieceSize });
          expect(result, `stopped at ${at}, delayed to ${delay}`).toEqual(COMPLETE);
          if (lasts) others = made + 1;
          runs++;
        }
      }
      expect(runs).toBeGreaterThanOrEqual(operations);
    },
  );
});
