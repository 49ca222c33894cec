import { VenueMessageError } from '../../../runtime/errors.ts';
import type { UnderlyingEvent } from '../../../schema/events.ts';
import type { MessageWatch } from '../../drift/messageWatch.ts';
import { parseJson, parseShape } from '../../json.ts';
import { tickerNamed, type VenueNames } from '../../symbols.ts';
import {
  CHAINLINK_TOPIC,
  rtdsKind,
  rtdsSubscribed,
  rtdsTopic,
  rtdsUpdate,
  TWAP60_TOPIC,
} from './messages.ts';

const SYMBOLS = {
  BTC: 'btc/usd',
  ETH: 'eth/usd',
  SOL: 'sol/usd',
  XRP: 'xrp/usd',
  DOGE: 'doge/usd',
  BNB: 'bnb/usd',
  HYPE: 'hype/usd',
  ZEC: 'zec/usd',
} as const satisfies VenueNames;
/**
 * The topics of the prices that decide markets. `crypto_prices` relays Binance a second late and is not mapped: the
 * trades themselves are the better source, and the relay under the same name would mix two clocks.
 */
const SOURCES = new Map([
  [CHAINLINK_TOPIC, 'chainlink'],
  [TWAP60_TOPIC, 'twap60'],
] as const);
const TWAP60_WINDOW_S = 60;
/** Decimals of a Chainlink integer. */
const CHAINLINK_DECIMALS = 18;
/** Largest relative difference between the exact text and the rounded number of a point. */
const ROUNDING_MAX = 1e-9;

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
    price: exactPrice(point.full_accuracy_value, point.value),
    eventTimeMs: point.timestamp,
    receivedTimeMs,
    ...(raw.type === 'subscribe' ? { isHistory: true as const } : {}),
  }));
}

/** The price from its exact text (an integer times 10^18 or a decimal), checked against the rounded number. */
function exactPrice(text: string | undefined, value: number): number {
  if (text === undefined) return value;
  const integer = /^\d{1,40}$/.exec(text);
  const price = integer ? scaled(text) : /^\d{1,20}\.\d{1,40}$/.test(text) ? Number(text) : Number.NaN;
  if (Math.abs(price - value) <= value * ROUNDING_MAX) return price;
  throw new VenueMessageError(`rtds: full_accuracy_value ${text.slice(0, 60)} beside value ${value}`);
}

/** Inserts the decimal point into the text: dividing would round twice. */
function scaled(integer: string): number {
  const digits = integer.padStart(CHAINLINK_DECIMALS + 1, '0');
  return Number(`${digits.slice(0, -CHAINLINK_DECIMALS)}.${digits.slice(-CHAINLINK_DECIMALS)}`);
}
