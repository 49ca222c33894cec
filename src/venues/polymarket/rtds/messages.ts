/**
 * Raw shapes of RTDS, Polymarket's stream of the prices that decide its markets. Deprecated by the venue since
 * 2026-09-23: it may disappear any day, so nothing may depend on it.
 * ```json
 * {"topic":"crypto_prices_chainlink","type":"update","timestamp":1784851202231,"payload":{"symbol":"btc/usd",
 *  "timestamp":1784851201000,"value":65051.92,"full_accuracy_value":"65051920000000000000000"}}
 * {"topic":"crypto_prices","type":"update","timestamp":1780730269142,"payload":{"symbol":"btcusdt",
 *  "timestamp":1780730269000,"value":61035.86,"full_accuracy_value":"61035.86000000"}}
 * {"topic":"crypto_prices","type":"subscribe","timestamp":1780726213178,"payload":{"symbol":"btcusdt",
 *  "data":[{"timestamp":1780726209000,"value":61164.12}]}}
 * ```
 * On the Chainlink topics `full_accuracy_value` is an integer times 10^18 (78,515 of 78,515 recorded points of
 * 2026-07-24), on `crypto_prices` a decimal. The TWAP topics carry `window_s`. The answer to a subscription has
 * recent points in `payload.data`, whose only exact field is `value`.
 * @see https://docs.polymarket.com/developers/RTDS/RTDS-crypto-prices (read 2026-06-24)
 */
import { z } from 'zod';
import { knownKeys, type MessageKinds } from '../../drift/knownKeys.ts';
import { venueTimeMs } from '../../venueTime.ts';

const point = z.object({
  timestamp: venueTimeMs,
  value: z.number().positive(),
  full_accuracy_value: z.string().optional(),
});

export const rtdsUpdate = z.object({
  topic: z.string(),
  type: z.literal('update'),
  payload: point.extend({ symbol: z.string(), window_s: z.number().optional() }),
});

export const rtdsSubscribed = z.object({
  topic: z.string(),
  type: z.literal('subscribe'),
  payload: z.object({ symbol: z.string(), window_s: z.number().optional(), data: z.array(point) }),
});

export const CHAINLINK_TOPIC = 'crypto_prices_chainlink';
export const TWAP60_TOPIC = 'crypto_prices_twap_sixty';

const POINT = 'timestamp value full_accuracy_value';
const UPDATE = knownKeys('topic type', 'timestamp', { payload: knownKeys(`symbol window_s ${POINT}`) });
const HISTORY = knownKeys('topic type', 'timestamp', {
  payload: knownKeys('symbol window_s', '', { data: knownKeys(POINT) }),
});
const ALL_TOPICS = ['crypto_prices', CHAINLINK_TOPIC, TWAP60_TOPIC, 'crypto_prices_twap_thirty'];

/** Every kind of message by topic and type, including the topics that are not mapped. */
export const RTDS_KINDS: MessageKinds = Object.fromEntries(
  ALL_TOPICS.flatMap((topic) => [
    [rtdsKind(topic, 'update'), UPDATE],
    [rtdsKind(topic, 'subscribe'), HISTORY],
    [rtdsKind(topic, 'unsubscribe'), HISTORY],
  ]),
);

export function rtdsKind(topic: unknown, type: unknown): string {
  return `${topic} ${type}`;
}

/** The name of a subscribed topic: each symbol is a subscription of its own. */
export function rtdsTopic(topic: string, symbol: string): string {
  return `${topic} ${symbol}`;
}
