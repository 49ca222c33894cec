/** What a thread with user code is doing, in memory that the command reads while the thread is busy. */
import { type Clock, every, type Timer } from '../runtime/clock.ts';

const [IN_USER_CODE, COUNT, SEQ, TIME_MS, TYPE] = [0, 1, 2, 3, 4];
const FIELDS = 5;

const EVENT_TYPES = [
  ...['market', 'book', 'trade', 'price', 'perp_depth', 'gap', 'gap_end', 'order', 'resolved', 'clock'],
] as const;
const LOADING = -1;

/** Checks within the limit. They are counted instead of time: a suspended process (Ctrl-Z) checks nothing meanwhile. */
const CHECKS_A_LIMIT = 10;

/** Written by the thread. */
export class Heartbeat {
  readonly #fields: Float64Array;

  constructor(memory: SharedArrayBuffer) {
    this.#fields = new Float64Array(memory);
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(FIELDS * Float64Array.BYTES_PER_ELEMENT);
  }

  /** The user's code begins to run for an event. */
  onEvent({ seq, timeMs, type }: { seq: number; timeMs: number; type: string }): void {
    const fields = this.#fields;
    fields[SEQ] = seq;
    fields[TIME_MS] = timeMs;
    fields[TYPE] = EVENT_TYPES.indexOf(type as (typeof EVENT_TYPES)[number]);
    fields[COUNT] = (fields[COUNT] as number) + 1;
    fields[IN_USER_CODE] = 1;
  }

  /** The user's modules begin to run. */
  onLoad(): void {
    this.#fields[TYPE] = LOADING;
    this.#fields[COUNT] = (this.#fields[COUNT] as number) + 1;
    this.#fields[IN_USER_CODE] = 1;
  }

  onReturn(): void {
    this.#fields[IN_USER_CODE] = 0;
  }
}

/** Reports user code that has not returned from one event for too long. */
export class HangWatchdog {
  readonly #beats: readonly Float64Array[];
  readonly #limitMs: number;
  readonly #onHang: (what: string) => void;
  /** The event of each thread at the last check, and how many checks found it again; `count` -1: it is in none. */
  readonly #seen: { count: number; checks: number }[];
  readonly #timer: Timer;

  /** @param memories One of each thread. */
  constructor(
    memories: readonly SharedArrayBuffer[],
    { clock, limitMs, onHang }: { clock: Clock; limitMs: number; onHang: (what: string) => void },
  ) {
    this.#beats = memories.map((memory) => new Float64Array(memory));
    this.#limitMs = limitMs;
    this.#onHang = onHang;
    this.#seen = this.#beats.map(() => ({ count: -1, checks: 0 }));
    this.#timer = every(clock, limitMs / CHECKS_A_LIMIT, () => this.#check());
  }

  stop(): void {
    this.#timer.cancel();
  }

  #check(): void {
    for (const [at, beat] of this.#beats.entries()) {
      const seen = this.#seen[at] as { count: number; checks: number };
      const count = beat[IN_USER_CODE] === 1 ? (beat[COUNT] as number) : -1;
      if (count === -1 || count !== seen.count) {
        seen.count = count;
        seen.checks = 0;
      } else if (++seen.checks >= CHECKS_A_LIMIT) {
        this.stop();
        this.#onHang(this.#describe(beat));
        return;
      }
    }
  }

  #describe(beat: Float64Array): string {
    const seconds = `${this.#limitMs / 1_000} s`;
    const type = beat[TYPE] as number;
    if (type === LOADING) return `loading the file did not end within ${seconds}`;
    const at = new Date(beat[TIME_MS] as number).toISOString();
    return `onEvent did not return within ${seconds} from the ${EVENT_TYPES[type]} event ${beat[SEQ]} of ${at}`;
  }
}
