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
 * The windows of these series needed at a time: the current one, the next, shortly the one after it, and the one just
 * ended.
 */
export function wantedWindows(series: readonly Series[], nowMs: number): WantedWindow[] {
  return series.flatMap(({ ticker, eventType }) =>
    windowsInPlay(eventType, nowMs).map((window) => ({
      ...{ ticker, eventType, window },
      slug: slugOf(ticker, eventType, window),
    })),
  );
}

function windowsInPlay(eventType: EventType, nowMs: number): Window[] {
  const current = windowAt(eventType, nowMs);
  const next = nextWindow(eventType, current);
  const windows = [current, next];
  const previous = windowAt(eventType, current.startTimeMs - 1);
  if (nowMs - previous.endTimeMs < LOOK_BACK_MS) windows.push(previous);
  if (current.endTimeMs - nowMs <= SUBSCRIBE_EARLY_MS) windows.push(nextWindow(eventType, next));
  return windows;
}
