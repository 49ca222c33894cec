import { AckPolicy, DeliverPolicy, type JetStreamManager, type StreamInfo } from '@nats-io/jetstream';
import type { HandledPlace, OnStreamMessage } from '../recordStream.ts';
import { ConsumerSession } from './consumerSession.ts';
import { ReadPosition } from './readPosition.ts';
import { partitionSubject } from './streamDefinition.ts';
import type { StreamParts } from './streamParts.ts';

/** The server forgets the consumer of a process that does not read for this long. */
const FORGOTTEN_NANOS = 60_000_000_000;

/** Reads the stream from a number on. The server keeps nothing about it: the place is in this process. */
export class StreamFollower {
  readonly #parts: StreamParts;
  readonly #partition: number | null;
  readonly #onMessage: OnStreamMessage;
  readonly #position: ReadPosition;
  readonly #session: ConsumerSession;
  readonly #failures;
  #failure: string | null = null;

  constructor(
    parts: StreamParts,
    {
      fromSeq,
      after,
      partition,
    }: { readonly fromSeq: number; readonly after: HandledPlace | null; readonly partition: number | null },
    onMessage: OnStreamMessage,
  ) {
    this.#parts = parts;
    this.#partition = partition;
    this.#onMessage = onMessage;
    const help = 'Messages of the stream whose processing failed in a process that follows it';
    this.#failures = parts.metrics.counter('underround_stream_follow_failures_total', help);
    const reader = partition === null ? 'follower' : `follower.${partition}`;
    this.#position = new ReadPosition(parts, { reader, next: fromSeq, after, isPartial: partition !== null });
    this.#session = new ConsumerSession(parts, {
      create: (manager, info) => this.#create(manager, info),
      onMessage: async (message, manager) => {
        const accepted = await this.#position.accept(message, manager);
        if (accepted !== null) this.#give(accepted);
      },
      onEnd: async () => undefined,
    });
  }

  get reason(): string | null {
    return this.#failure ?? this.#session.reason ?? this.#position.reason;
  }

  stop(): Promise<void> {
    return this.#session.stop();
  }

  async #create(manager: JetStreamManager, info: StreamInfo): Promise<string> {
    const startSeq = await this.#position.onStart(info, manager);
    const { prefix } = this.#parts;
    const created = await manager.consumers.add(prefix, {
      ack_policy: AckPolicy.None,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: startSeq,
      ...(this.#partition === null ? {} : { filter_subject: partitionSubject(prefix, this.#partition) }),
      inactive_threshold: FORGOTTEN_NANOS,
      mem_storage: true,
      num_replicas: 1,
    });
    return created.name;
  }

  #give({
    message,
    place,
  }: {
    message: Parameters<OnStreamMessage>[0];
    place: Parameters<OnStreamMessage>[1];
  }): void {
    try {
      this.#onMessage(message, place);
    } catch (error) {
      this.#failures.inc();
      // What it computes from here on may differ from the recording.
      this.#failure = `a message of the stream was not processed: ${(error as Error).message}`;
      this.#parts.log.error({ err: error, kind: message.kind, place }, 'stream.follower_failed');
    }
  }
}
