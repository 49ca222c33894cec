import type { Publisher } from '../bus/bus.ts';
import { LATE_AFTER_MS } from '../core/lateness.ts';
import { type Clock, every, type Timer } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { LiveRecording } from './liveRecording.ts';

const POLL_MS = 500;
/** Recording is current again below this. */
const CURRENT_MS = 1_000;
/** A longer delay makes the process not ready, as stored data that is older does. */
const NOT_READY_MS = 10_000;

interface ReceptionDelayOptions {
  readonly recorder: { -readonly [K in 'isReceiving' | 'knownToMs']: LiveRecording[K] };
  /** Null where nothing follows the recorder in its own process. */
  readonly bus: Pick<Publisher, 'publish'> | null;
  /** Age of the oldest frame that was received and not recorded yet; 0 without one. */
  readonly lagMs: () => number;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Watches how long received frames wait to be recorded. A process that gets too little CPU falls behind, although a
 * separate thread reads every frame in time. Nothing is lost, so there is no gap; but its newest books are old. Until it
 * has caught up, it shows no book as trusted and finds no signals.
 */
export class ReceptionDelay {
  readonly #options: ReceptionDelayOptions;
  readonly #timer: Timer;

  constructor(options: ReceptionDelayOptions) {
    this.#options = options;
    this.#timer = every(options.clock, POLL_MS, () => this.#check());
  }

  /** Why this process is not ready; empty when it is. */
  reasons(): string[] {
    const lagMs = this.#options.lagMs();
    if (lagMs <= NOT_READY_MS) return [];
    return [
      `recording is ${Math.floor(lagMs / 1_000)} s behind what was received: this process gets too little CPU, or waits for its disk`,
    ];
  }

  /** What makes the newest books untrusted; empty when nothing does. */
  degraded(): string[] {
    const { recorder, lagMs } = this.#options;
    return recorder.isReceiving
      ? []
      : [`recording ${(lagMs() / 1_000).toFixed(1)} s behind what was received`];
  }

  close(): void {
    this.#timer.cancel();
  }

  #check(): void {
    const { recorder, bus, lagMs: measure, clock, log } = this.#options;
    const [lagMs, timeMs] = [measure(), clock.now()];
    const isReceiving = lagMs <= (recorder.isReceiving ? LATE_AFTER_MS : CURRENT_MS);
    recorder.knownToMs = isReceiving ? Number.POSITIVE_INFINITY : timeMs - lagMs;
    if (isReceiving === recorder.isReceiving) return;
    recorder.isReceiving = isReceiving;
    if (isReceiving) log.info({}, 'recorder.caught_up');
    else log.warn({ lagMs: Math.round(lagMs) }, 'recorder.behind');
    bus?.publish('receiving', { isReceiving, timeMs });
  }
}
