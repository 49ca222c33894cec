import type { Clock } from '../../../runtime/clock.ts';

/** How long a frame counts: long enough to smooth bursts, short enough to notice that a window has opened. */
const FORGET_SECONDS = 10;

/** The recent load of a connection: an average of received bytes a second that forgets with time. */
export class LoadMeter {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #rate = 0;
  #countedAt: number;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
    this.#countedAt = clock.monotonic();
  }

  add(bytes: number): void {
    this.#rate = this.bytesPerSecond + bytes / FORGET_SECONDS;
    this.#countedAt = this.#clock.monotonic();
  }

  get bytesPerSecond(): number {
    const elapsedSeconds = (this.#clock.monotonic() - this.#countedAt) / 1000;
    return this.#rate * Math.exp(-elapsedSeconds / FORGET_SECONDS);
  }
}
