import { expect, it } from 'vitest';
import { VenueModel } from './model.ts';

const START = Date.UTC(2026, 10, 20, 12);
const WINDOW_MS = 300_000;
const WINDOWS = 20;

it('every window has trades soon after it opens, however slow the traders were before', () => {
  const model = new VenueModel({
    ...{ seed: 'opening', startTimeMs: START, density: 0.01 },
    tickers: ['BTC'],
  });
  /** Milliseconds from the opening to the first trade. */
  const firstTrades = new Map<number, number>();
  const ignore = () => undefined;
  model.advance(START + (WINDOWS + 1) * WINDOW_MS, {
    ...{ relay: ignore, spot: ignore, entered: ignore, final: ignore, stated: ignore },
    clob: (atMs, market, frame) => {
      const { eventType, window } = market?.facts ?? {};
      if (eventType !== '5m' || window === undefined || atMs < window.startTimeMs) return;
      if (!frame.includes('"last_trade_price"') || firstTrades.has(window.startTimeMs)) return;
      firstTrades.set(window.startTimeMs, atMs - window.startTimeMs);
    },
  });
  const waits = Array.from({ length: WINDOWS }, (_, at) => firstTrades.get(START + at * WINDOW_MS));
  expect(waits.filter((waitMs) => waitMs === undefined || waitMs > 60_000)).toEqual([]);
});
