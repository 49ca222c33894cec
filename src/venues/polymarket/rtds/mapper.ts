import { VenueMessageError } from '../../../runtime/errors.ts';
import type { UnderlyingEvent } from '../../../schema/events.ts';
import type { MessageWatch } from '../../drift/messageWatch.ts';
import { parseJson, parseShape } from '../../json.ts';
import { namesBy, tickerNamed, type VenueNames } from '../../symbols.ts';
import { chainlinkPrice } from '../pointPrice.ts';
import {
  CHAINLINK_TOPIC,
  rtdsKind,
  rtdsSubscribed,
  rtdsTopic,
  rtdsUpdate,
  TWAP60_TOPIC,
} from './messages.ts';

const SYMBOLS = namesBy((ticker) => `${ticker.toLowerCase()}/usd`);
/**
 * The topics of the prices that decide markets. `crypto_prices` relays Binance a second late and is not mapped: the
 * trades themselves are the better source, and the relay under the same name would mix two clocks.
 */
const SOURCES = new Map([
  [CHAINLINK_TOPIC, 'chainlink'],
  [TWAP60_TOPIC, 'twap60'],
] as const);
const TWAP60_WINDOW_S = 60;

export function rtdsSymbol(ticker: keyof VenueNames): string {
  return SYMBOLS[ticker];
}

/**
 * Maps one text frame. Texts that are not a JSON object (PONG, empty) and other topics yield no events.
 * @throws {VenueMessageError} When a price message does not match the protocol.
 */
export function mapRtdsFrame(
  frame: string,
  receivedTimeMs: number,
  watch: MessageWatch | null = null,
): readonly UnderlyingEvent[] {
  if (!frame.startsWith('{')) return [];
  const raw = parseJson(frame) as { topic?: unknown; type?: unknown };
  watch?.message(rtdsKind(raw.topic, raw.type), raw, frame, receivedTimeMs);
  const source = SOURCES.get(raw.topic as typeof CHAINLINK_TOPIC);
  if (!source || (raw.type !== 'update' && raw.type !== 'subscribe')) return [];
  const { payload } =
    raw.type === 'update'
      ? parseShape(rtdsUpdate, raw, 'rtds update')
      : parseShape(rtdsSubscribed, raw, 'rtds subscribe');
  if (raw.type === 'update') watch?.heard(rtdsTopic(String(raw.topic), payload.symbol), receivedTimeMs);
  const ticker = tickerNamed(SYMBOLS, payload.symbol);
  if (!ticker) return [];
  if (source === 'twap60' && payload.window_s !== undefined && payload.window_s !== TWAP60_WINDOW_S) {
    throw new VenueMessageError(`rtds: ${TWAP60_TOPIC} with a window of ${payload.window_s} s`);
  }
  const points = 'data' in payload ? payload.data : [payload];
  return points.map((point) => ({
    kind: 'underlying',
    ticker,
    source,
    price: chainlinkPrice(point.full_accuracy_value, point.value),
    eventTimeMs: point.timestamp,
    receivedTimeMs,
    ...(raw.type === 'subscribe' ? { isHistory: true as const } : {}),
  }));
}
