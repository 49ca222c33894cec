/** The venue's website: the price at which a window opened, undocumented and incomplete until the window ends. */
import { type EventType, TICKERS } from '../schema/market.ts';
import { windowAt } from '../venues/polymarket/lifecycle/windows.ts';
import { json, type Reply } from './httpReply.ts';
import type { VenueModel } from './model.ts';

/** The open price appears this long after the open. */
const KNOWN_AFTER_MS = 2_500;
const VARIANTS: Readonly<Record<string, EventType>> = {
  fiveminute: '5m',
  fifteen: '15m',
};

/** @returns Null when the website has no such route. */
export function cryptoPriceReply(
  model: VenueModel,
  { path, query, nowMs }: { path: string; query: URLSearchParams; nowMs: number },
): Reply | null {
  if (path !== '/api/crypto/crypto-price') return null;
  const ticker = TICKERS.find((name) => name === query.get('symbol'));
  const eventType = VARIANTS[query.get('variant') ?? ''];
  const startTimeMs = Date.parse(query.get('eventStartTime') ?? '');
  if (ticker === undefined || eventType === undefined || Number.isNaN(startTimeMs))
    return json({ error: 'Bad request' }, 400);
  const isKnown = nowMs >= startTimeMs + KNOWN_AFTER_MS;
  const { fate, facts } = model.registry.ofWindow(ticker, eventType, windowAt(eventType, startTimeMs));
  const isOver = nowMs >= facts.window.endTimeMs && fate.finalPrice !== null;
  // Without the average's parameters the website answers with the spot price, which decides nothing.
  const isTwap = query.get('twapEnabled') === 'true' && query.get('twapLookbackSeconds') === '60';
  return json({
    openPrice: !isKnown ? null : isTwap ? fate.strike : model.prices.spot(ticker),
    closePrice: isOver ? fate.finalPrice : null,
    timestamp: isKnown ? Math.floor(nowMs) : 0,
    completed: isOver,
    incomplete: !isOver,
    cached: false,
  });
}
