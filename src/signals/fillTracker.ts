import type { TakerFee } from '../core/fees.ts';
import type { Leg } from '../core/signals/signal.ts';
import type { Clock, Timer } from '../runtime/clock.ts';
import { EXECUTABLE_AFTER_MS } from '../schema/export.ts';
import { type ExecutableFill, executableFill, type TradedBook } from './executable.ts';

/** A state is published some 20 ms after its receipt at most; after this time no earlier one can arrive. */
const LATE_MAX_MS = 100;
/** Most waiting detections of one market; it has four kinds. */
const WAITING_MAX = 8;

interface TrackedDetection {
  readonly detectedMs: number;
  readonly legs: readonly Leg[];
  readonly fee: TakerFee;
  readonly fills: ExecutableFill[];
  readonly done: (fills: readonly ExecutableFill[]) => void;
}

/** Computes the fills of one market's detections on the books that follow, in the order of receipt. */
export class FillTracker {
  readonly #clock: Clock;
  readonly #book: TradedBook;
  #waiting: TrackedDetection[] = [];
  readonly #timers = new Set<Timer>();

  /** @param book The market's book, changed in place over time. */
  constructor(clock: Clock, book: TradedBook) {
    this.#clock = clock;
    this.#book = book;
  }

  /** @param done Called once, with a fill for each time; never if too many wait or they are forgotten. */
  add(probe: Omit<TrackedDetection, 'fills'>): void {
    if (this.#waiting.length >= WAITING_MAX) return;
    this.#waiting.push({ ...probe, fills: [] });
    const lastMs = (EXECUTABLE_AFTER_MS.at(-1) as number) + LATE_MAX_MS;
    const delayMs = probe.detectedMs + lastMs - this.#clock.now();
    const timer = this.#clock.after(Math.max(0, delayMs), () => {
      this.#timers.delete(timer);
      this.advanceTo(this.#clock.now());
    });
    this.#timers.add(timer);
  }

  /** Call this BEFORE the book becomes one received at `timeMs`: until then the current book was in force. */
  advanceTo(timeMs: number): void {
    if (this.#waiting.length === 0) return;
    for (const probe of this.#waiting) {
      for (const afterMs of EXECUTABLE_AFTER_MS.slice(probe.fills.length)) {
        if (probe.detectedMs + afterMs >= timeMs) break;
        probe.fills.push(executableFill(this.#book, { ...probe, afterMs }));
      }
    }
    const isDone = ({ fills }: TrackedDetection) => fills.length === EXECUTABLE_AFTER_MS.length;
    const done = this.#waiting.filter(isDone);
    if (done.length > 0) this.#waiting = this.#waiting.filter((probe) => !isDone(probe));
    for (const probe of done) probe.done(probe.fills);
  }

  get isIdle(): boolean {
    return this.#waiting.length === 0;
  }

  /** Forgets all that wait: `done` is not called for them. */
  forget(): void {
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
    this.#waiting = [];
  }
}
