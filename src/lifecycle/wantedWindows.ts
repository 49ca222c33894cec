import type { EventType, Ticker } from '../schema/market.ts';
import type { Series } from '../venues/polymarket/lifecycle/series.ts';
import { nextWindow, slugOf, type Window, windowAt } from '../venues/polymarket/lifecycle/windows.ts';

/** How long before a window becomes the next one to subscribe, so that the next window's book is always known. */
const SUBSCRIBE_EARLY_MS = 90_000;
/** How long to look up the outcome of a window that ended before the start of this run. */
const LOOK_BACK_MS = 600_000;

/** A window of a series, with the slug expected in the venue's listing. */
export interface WantedWindow {
  readonly ticker: Ticker;
  readonly eventType: EventType;
  readonly window: Window;
  readonly slug: string;
}

/**
 * The windows of all series needed at a time: the current one, the next, shortly the one after it, and the one just
 * ended. They are asked for every second, and computing them takes milliseconds (hours of New York). So they are
 * computed only when they may change.
 */
export class WantedWindows {
  readonly #series: readonly Series[];
  #wanted: readonly WantedWindow[] = [];
  /** The times for which `#wanted` is right; half open. */
  #fromMs = Number.POSITIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(series: readonly Series[]) {
    this.#series = series;
  }

  at(nowMs: number): readonly WantedWindow[] {
    if (nowMs < this.#fromMs || nowMs >= this.#untilMs) this.#compute(nowMs);
    return this.#wanted;
  }

  #compute(nowMs: number): void {
    const found = this.#series.map((one) => ({ ...one, ...windowsInPlay(one.eventType, nowMs) }));
    const changes = found.flatMap(({ changesMs }) => changesMs);
    this.#fromMs = Math.max(...changes.filter((timeMs) => timeMs <= nowMs));
    this.#untilMs = Math.min(...changes.filter((timeMs) => timeMs > nowMs));
    this.#wanted = found.flatMap(({ ticker, eventType, windows }) =>
      windows.map((window) => ({ ticker, eventType, window, slug: slugOf(ticker, eventType, window) })),
    );
  }
}

/** @returns The windows, and times around now at which others may be needed. */
function windowsInPlay(eventType: EventType, nowMs: number): { windows: Window[]; changesMs: number[] } {
  const current = windowAt(eventType, nowMs);
  const next = nextWindow(eventType, current);
  const windows = [current, next];
  const previous = windowAt(eventType, current.startTimeMs - 1);
  const lookedUpToMs = previous.endTimeMs + LOOK_BACK_MS;
  if (nowMs < lookedUpToMs) windows.push(previous);
  const earlyFromMs = current.endTimeMs - SUBSCRIBE_EARLY_MS;
  if (nowMs >= earlyFromMs) windows.push(nextWindow(eventType, next));
  return { windows, changesMs: [current.startTimeMs, lookedUpToMs, earlyFromMs, current.endTimeMs] };
}
