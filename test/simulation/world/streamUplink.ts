import type { StreamMessage } from '../../../src/bus/recordStream.ts';
import { decodeMessage, encodeMessage } from '../../../src/bus/wire/message.ts';
import type { Random } from '../../../src/core/random.ts';
import type { VirtualTime } from './virtualTime.ts';

const LATENCY_MS_MIN = 2;
const LATENCY_MS_RANGE = 15;
/** A message that was sent less than this before a cut is not acknowledged, and is sent again. */
const ACKNOWLEDGED_AFTER_MS = 40;
/** What waited for longer is on the disk, and outlives the process. */
const KEPT_AFTER_MS = 1_000;

interface SentMessage {
  readonly message: StreamMessage;
  readonly atMs: number;
}

/** The way of one machine's messages to the stream, in the order of publishing, over its restarts too. */
export class StreamUplink {
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #deliver: (message: StreamMessage) => void;
  /** Published and not sent. */
  #waiting: SentMessage[] = [];
  /** Sent and not acknowledged. */
  #sent: SentMessage[] = [];
  /** How many faults cut it now. */
  #cuts = 0;
  #isDown = true;

  constructor(parts: { time: VirtualTime; random: Random; deliver: (message: StreamMessage) => void }) {
    this.#time = parts.time;
    this.#random = parts.random;
    this.#deliver = parts.deliver;
  }

  /** A process begins: what an earlier one left is sent first. */
  open(): void {
    this.#isDown = false;
    this.#flush();
  }

  publish(message: StreamMessage): void {
    // As through a network: the sender may change its reused views afterwards.
    this.#waiting.push({ message: decodeMessage(encodeMessage(message)), atMs: this.#time.nowMs });
    this.#time.after(LATENCY_MS_MIN + this.#random.below(LATENCY_MS_RANGE), () => this.#flush());
  }

  cut(): void {
    if (this.#cuts++ > 0) return;
    this.#waiting.unshift(...this.#unacknowledged());
    this.#sent = [];
  }

  mend(): void {
    this.#cuts--;
    this.#flush();
  }

  /** The process dies: of what it published last, an end may be lost. */
  kill(): void {
    this.#isDown = true;
    const unsafe = this.#waiting.filter(({ atMs }) => atMs > this.#time.nowMs - KEPT_AFTER_MS).length;
    const lost = this.#random.below(unsafe + 1);
    this.#waiting.splice(this.#waiting.length - lost);
  }

  #flush(): void {
    if (this.#isDown || this.#cuts > 0) return;
    const sending = this.#waiting.splice(0);
    this.#sent = [
      ...this.#unacknowledged(),
      ...sending.map(({ message }) => ({ message, atMs: this.#time.nowMs })),
    ];
    for (const { message } of sending) this.#deliver(message);
  }

  #unacknowledged(): SentMessage[] {
    return this.#sent.filter(({ atMs }) => atMs > this.#time.nowMs - ACKNOWLEDGED_AFTER_MS);
  }
}
