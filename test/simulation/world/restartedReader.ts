import type { Random } from '../../../src/core/random.ts';
import { PartitionMerge } from '../../../src/recorder/merge/earlierRecording.ts';
import type { MergedRecord } from '../../../src/recorder/merge/mergedRecord.ts';
import type { PlacedMessage } from '../../support/numberedStream.ts';
import type { VirtualTime } from './virtualTime.ts';

const STREAM = { baseSeq: 0 };
const SAVED_EVERY_MS = 5_000;
/** How long it runs before it is killed, and is down. */
const RUNS_MS_MIN = 2_000;
const RUNS_MS_RANGE = 25_000;
const DOWN_MS_MAX = 6_000;

/** A process that merges the stream and is killed again and again: each life continues from a saved state. */
export class RestartedReader {
  readonly records: MergedRecord[] = [];
  #merge = new PartitionMerge(STREAM, null);
  readonly #stream: readonly PlacedMessage[];
  #read = 0;
  #isDown = false;
  /** The state, its place in the stream, and how many records it had given. */
  #saved = { state: this.#merge.state(), read: 0, records: 0 };

  constructor(stream: readonly PlacedMessage[], { time, random }: { time: VirtualTime; random: Random }) {
    this.#stream = stream;
    const save = () => {
      if (!this.#isDown)
        this.#saved = { state: this.#merge.state(), read: this.#read, records: this.records.length };
      time.after(SAVED_EVERY_MS, save);
    };
    const kill = () => {
      this.#isDown = true;
      time.after(random.below(DOWN_MS_MAX), () => {
        this.#restart();
        time.after(RUNS_MS_MIN + random.below(RUNS_MS_RANGE), kill);
      });
    };
    time.after(random.below(SAVED_EVERY_MS), save);
    time.after(RUNS_MS_MIN + random.below(RUNS_MS_RANGE), kill);
  }

  /** Reads what the stream has, unless it is down. */
  read(): void {
    if (this.#isDown) return;
    for (const { message, place } of this.#stream.slice(this.#read))
      this.records.push(...this.#merge.step(message, place));
    this.#read = this.#stream.length;
  }

  /** Reads to the end of the stream, after a restart if it is down. */
  finish(): void {
    if (this.#isDown) this.#restart();
    this.read();
  }

  #restart(): void {
    const { state, read, records } = this.#saved;
    // The next restart may read the same state.
    this.#merge = new PartitionMerge(STREAM, structuredClone(state));
    this.#read = read;
    this.records.length = records;
    this.#isDown = false;
    this.read();
  }
}
