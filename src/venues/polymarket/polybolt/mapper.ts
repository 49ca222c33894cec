import { VenueMessageError } from '../../../runtime/errors.ts';
import type { UnderlyingEvent } from '../../../schema/events.ts';
import type { Ticker } from '../../../schema/market.ts';
import type { MessageWatch } from '../../drift/messageWatch.ts';
import { parseJson, parseShape } from '../../json.ts';
import { namesBy, tickerNamed } from '../../symbols.ts';
import { decimalPrice } from '../pointPrice.ts';
import {
  CHAINLINK,
  polyboltKind,
  polyboltSnapshot,
  polyboltTopic,
  polyboltUpdate,
  SPOT_CHANNEL,
  TWAP_CHANNEL,
  TWAP_WINDOW_SECONDS,
} from './messages.ts';

/** Both channels have all eight since 2026-10-02. */
const SYMBOLS = namesBy((ticker) => `${ticker.toLowerCase()}usd`);

export function polyboltSymbol(ticker: Ticker): string {
  return SYMBOLS[ticker];
}

/**
 * Maps one text frame. Answers to commands, other channels and other symbols yield no events, and neither do spot
 * prices of another origin than Chainlink: they must not decide a market.
 * @throws {VenueMessageError} When a price message does not match the protocol.
 */
export function mapPolyboltFrame(
  frame: string,
  receivedTimeMs: number,
  watch: MessageWatch | null = null,
): readonly UnderlyingEvent[] {
  if (!frame.startsWith('{')) return [];
  const raw = parseJson(frame) as { op?: unknown; channel?: unknown; snapshot?: unknown };
  // Answers to commands are the feed's own.
  if (raw.op !== undefined) return [];
  const isTwap = raw.channel === TWAP_CHANNEL;
  const isHistory = raw.snapshot === true;
  watch?.message(polyboltKind(raw.channel, isHistory), raw, frame, receivedTimeMs);
  if (!isTwap && raw.channel !== SPOT_CHANNEL) return [];
  const { payload } = isHistory
    ? parseShape(polyboltSnapshot, raw, 'polybolt snapshot')
    : parseShape(polyboltUpdate, raw, 'polybolt update');
  if (!isHistory) watch?.heard(polyboltTopic(String(raw.channel), payload.symbol), receivedTimeMs);
  const ticker = tickerNamed(SYMBOLS, payload.symbol);
  if (ticker === null || !isChainlinks(payload.source, isTwap)) return [];
  if (isTwap && payload.window_seconds !== undefined && payload.window_seconds !== TWAP_WINDOW_SECONDS) {
    throw new VenueMessageError(`polybolt: ${TWAP_CHANNEL} with a window of ${payload.window_seconds} s`);
  }
  const points = 'data' in payload ? payload.data : [payload];
  return points.map((point) => ({
    kind: 'underlying',
    ticker,
    source: isTwap ? 'twap60' : 'chainlink',
    price: decimalPrice(point.full_accuracy_value, point.value),
    eventTimeMs: point.timestamp,
    receivedTimeMs,
    ...(isHistory ? { isHistory: true as const } : {}),
  }));
}

/** Spot frames without an origin are older than 2026-10-02, when the channel sent Pyth's prices. */
function isChainlinks(source: string | undefined, isTwap: boolean): boolean {
  return source === CHAINLINK || (isTwap && source === undefined);
}
