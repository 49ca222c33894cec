/** Source of a recorded frame; `unknown` if no mapper reads it. */
const FRAME_ORIGINS = [
  'polymarket.clob',
  'polymarket.rtds',
  'polymarket.polybolt',
  'bybit.ws',
  'bybit.rest',
  'hyperliquid.rest',
  'binance',
  'coinbase',
  'unknown',
] as const;
export type FrameOrigin = (typeof FRAME_ORIGINS)[number];

/** Texts of the market channel that are not JSON objects; its mapper ignores them. */
const CLOB_TEXTS: ReadonlySet<string> = new Set([
  'PONG',
  'NO NEW ASSETS',
  'INVALID MESSAGE',
  'INVALID OPERATION',
  '[]',
]);
const BINANCE_EVENTS = /^(trade|aggTrade|depthUpdate|bookTicker|kline)$/;
const COINBASE_TYPES = /^(ticker|match|last_match|heartbeat|subscriptions|subscribe|error)$/;

type Fields = Readonly<Record<string, unknown>>;

/** Detects from a frame's shape which venue sent it, for recordings that do not say. */
export function identifyFrame(text: string): FrameOrigin {
  if (CLOB_TEXTS.has(text)) return 'polymarket.clob';
  const message = firstObject(text);
  return message ? originOf(message) : 'unknown';
}

function originOf(message: Fields): FrameOrigin {
  if (typeof message.event_type === 'string') return 'polymarket.clob';
  if (typeof message.channel === 'string' && message.channel.startsWith('price.'))
    return 'polymarket.polybolt';
  if (typeof message.topic === 'string') {
    if (message.topic.startsWith('crypto_prices')) return 'polymarket.rtds';
    return /^(orderbook|publicTrade|tickers)\./.test(message.topic) ? 'bybit.ws' : 'unknown';
  }
  if (typeof message.retCode === 'number' && 'result' in message) return 'bybit.rest';
  if (typeof message.op === 'string' && 'ret_msg' in message) return 'bybit.ws';
  if (typeof message.coin === 'string' && Array.isArray(message.levels)) return 'hyperliquid.rest';
  const inner = typeof message.stream === 'string' && isFields(message.data) ? message.data : message;
  if (isBinance(inner)) return 'binance';
  if (typeof message.type === 'string' && COINBASE_TYPES.test(message.type)) return 'coinbase';
  return 'unknown';
}

function isBinance(message: Fields): boolean {
  if (typeof message.e === 'string') return BINANCE_EVENTS.test(message.e) && typeof message.s === 'string';
  const snapshot = 'lastUpdateId' in message && Array.isArray(message.bids);
  // The spot book ticker has no event type.
  return (
    snapshot || (['u', 's', 'b', 'B', 'a', 'A'].every((key) => key in message) && Number.isInteger(message.u))
  );
}

/** The message, or the first one of a list: the market channel sends both. */
function firstObject(text: string): Fields | null {
  try {
    const parsed: unknown = JSON.parse(text);
    const first: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
    return isFields(first) ? first : null;
  } catch {
    return null;
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
