/**
 * Raw shapes of PolyBolt, the successor of RTDS: the prices that decide the venue's markets, for holders of API
 * credentials. Frames captured by the venue on its staging system, 2026-09-08:
 * ```json
 * {"v":1,"channel":"price.crypto.twap","seq":3,"ts":1788886177000,"payload":{"full_accuracy_value":
 *  "78803.715261094101516288","symbol":"btcusd","timestamp":1788886177000,"value":78803.7152610941,"window_seconds":60}}
 * {"v":1,"channel":"price.crypto","seq":5,"ts":1788886177000,"payload":{"full_accuracy_value":"78794.15450441",
 *  "symbol":"btcusd","timestamp":1788886177000,"value":78794.15450441}}
 * {"op":"subscribed","channel":"price.crypto","rid":"capture"}
 * {"op":"error","channel":"price.crypto","rid":"capture","code":"bad_filter"}
 * ```
 * `full_accuracy_value` is a decimal (RTDS sends an integer times 10^18). Since 2026-10-02 the spot channel sends
 * Chainlink's price and names its origin in `source` (`chainlink`, or `pyth` on request); earlier frames had no `source`
 * and were Pyth's. The averages are always Chainlink's. `seq` counts the frames of one channel on one connection
 * without holes; `dropped` counts the frames that the venue discarded before this one. A new subscription is answered
 * by one frame with `snapshot: true` and the points of the last two minutes in `payload.data`.
 * @see https://docs.polymarket.com/api-reference/wss/polybolt.md (read 2026-11-22)
 */
import { z } from 'zod';
import { knownKeys, type MessageKinds } from '../../drift/knownKeys.ts';
import { venueTimeMs } from '../../venueTime.ts';

export const SPOT_CHANNEL = 'price.crypto';
export const TWAP_CHANNEL = 'price.crypto.twap';
/** The origin of a spot price that decides windows. */
export const CHAINLINK = 'chainlink';
/** The only length that has data. */
export const TWAP_WINDOW_SECONDS = 60;

const point = z.object({
  timestamp: venueTimeMs,
  value: z.number().positive(),
  full_accuracy_value: z.string().optional(),
});
const series = { symbol: z.string(), source: z.string().optional(), window_seconds: z.number().optional() };

export const polyboltUpdate = z.object({ channel: z.string(), payload: point.extend(series) });

export const polyboltSnapshot = z.object({
  channel: z.string(),
  snapshot: z.literal(true),
  payload: z.object({ ...series, data: z.array(point) }),
});

/** The fields of a data frame that show whether frames were lost, and the origin of its price. */
export const polyboltEnvelope = z.object({
  channel: z.string(),
  seq: z.number().int().nonnegative(),
  dropped: z.number().int().nonnegative().optional(),
  payload: z.object({ source: z.string().optional() }).optional().catch(undefined),
});

/** An answer to a command. */
export const polyboltAnswer = z.object({
  op: z.string(),
  rid: z.string().optional(),
  channel: z.string().optional(),
  code: z.string().optional(),
});

const POINT = 'timestamp value full_accuracy_value';
const SERIES = 'symbol source window_seconds';
const UPDATE = knownKeys('channel seq dropped', 'v ts', { payload: knownKeys(`${SERIES} ${POINT}`) });
const SNAPSHOT = knownKeys('channel seq dropped snapshot', 'v ts', {
  payload: knownKeys(SERIES, '', { data: knownKeys(POINT) }),
});

/** The kinds of data frames. Answers to commands are not among them: they are read by the feed alone. */
export const POLYBOLT_KINDS: MessageKinds = Object.fromEntries(
  [SPOT_CHANNEL, TWAP_CHANNEL].flatMap((channel) => [
    [polyboltKind(channel, false), UPDATE],
    [polyboltKind(channel, true), SNAPSHOT],
  ]),
);

export function polyboltKind(channel: unknown, isHistory: boolean): string {
  return `${channel} ${isHistory ? 'snapshot' : 'update'}`;
}

/** The name of a subscribed topic: each symbol of a channel is a subscription of its own. */
export function polyboltTopic(channel: string, symbol: string): string {
  return `${channel} ${symbol}`;
}
