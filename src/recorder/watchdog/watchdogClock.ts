import type { Clock } from '../../runtime/clock.ts';

/** Time daemons slew small differences; a step of this size changes the order of what is received. */
const STEP_MS_MIN = 500;

/** Notices when the wall clock jumps against the monotonic one. */
export class ClockWatch {
  readonly #clock: Clock;
  #offsetMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#offsetMs = clock.now() - clock.monotonic();
  }

  /** @returns By how much the wall clock stepped since the last look; 0 for less than a step. */
  look(): number {
    const offsetMs = this.#clock.now() - this.#clock.monotonic();
    const stepMs = offsetMs - this.#offsetMs;
    this.#offsetMs = offsetMs;
    return Math.abs(stepMs) >= STEP_MS_MIN ? stepMs : 0;
  }
}
