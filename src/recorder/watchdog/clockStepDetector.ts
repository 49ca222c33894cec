import type { Clock } from '../../runtime/clock.ts';

/** Time daemons slew small differences; a step of this size changes the order of receive times. */
const STEP_MS_MIN = 500;

/** Detects when the wall clock jumps against the monotonic one. */
export class ClockStepDetector {
  readonly #clock: Clock;
  #offsetMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = clock.now() - clock.monotonic();
  }

  /** @returns The wall clock's step since the last call; 0 when smaller than a step. */
  measureStep(): number {
    const offsetMs = this.#clock.now() - this.#clock.monotonic();
    const stepMs = offsetMs - this.#offsetMs;
    this.#offsetMs = offsetMs;
    return Math.abs(stepMs) >= STEP_MS_MIN ? stepMs : 0;
  }
}
