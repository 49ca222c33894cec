import { parsePrice, parseSize } from '../../../core/money.ts';
import { VenueMessageError } from '../../../runtime/errors.ts';
import type {
  BookChangeEvent,
  BookSnapshotEvent,
  ClobEvent,
  LevelChange,
  Levels,
  Side,
} from '../../../schema/events.ts';
import { isProtocolVersion, normalMarketId, unknownVersion } from '../../../schema/protocol.ts';
import type { MessageWatch } from '../../drift/messageWatch.ts';
import { TIME_MS_MAX, TIME_MS_MIN } from '../../venueTime.ts';
import { type RawMessage, TEXT_FRAMES } from './messages.ts';

/** Real asset and market ids are long; the bound keeps a hostile frame from becoming a key of our maps. */
const ID_LENGTH_MAX = 100;
/** The market channel sends condition ids in the internal form. */
const MARKET_ID_LENGTH = 66;
/** Messages whose version matters here; `new_market` is about markets that are not followed yet. */
const ABOUT_ONE_MARKET: ReadonlySet<unknown> = new Set([
  'book',
  'price_change',
  'last_trade_price',
  'tick_size_change',
  'best_bid_ask',
  'market_resolved',
]);

/**
 * Maps one text frame of the market channel to events, in the order of the wire.
 * The checks are written by hand instead of with a schema library: this runs for every frame, up to 1,000 a second per
 * market. Events are written out: V8 adds each member after a leading spread separately, at about 0.7 us each.
 * @param watch Compares each message with the known kinds and fields.
 * @returns No events for texts without data (PONG, `[]`) and for unknown message types.
 * @throws {VenueMessageError} When the frame does not match the protocol; the whole frame is then set aside.
 */
export function mapClobFrame(
  text: string,
  receivedTimeMs: number,
  watch: MessageWatch | null = null,
): readonly ClobEvent[] {
  if (TEXT_FRAMES.has(text)) return [];
  const parsed = parseJson(text);
  if (!Array.isArray(parsed)) {
    const raw = asObject(parsed);
    watch?.message(raw.event_type, raw, text, receivedTimeMs);
    return mapMessage(raw, receivedTimeMs);
  }
  const events: ClobEvent[] = [];
  for (const message of parsed) {
    const raw = asObject(message);
    // Of a list, only the unknown messages are set aside.
    watch?.message(raw.event_type, raw, null, receivedTimeMs);
    events.push(...mapMessage(raw, receivedTimeMs));
  }
  return events;
}

function mapMessage(raw: RawMessage, receivedTimeMs: number): readonly ClobEvent[] {
  if (raw.version !== undefined && ABOUT_ONE_MARKET.has(raw.event_type)) {
    const version = unknownVersion(raw.version);
    const kind = 'unknown_version';
    if (version !== null) return [{ kind, marketId: idOfMarket(raw.market), version, receivedTimeMs }];
  }
  switch (raw.event_type) {
    case 'price_change':
      return raw.price_changes === undefined && raw.changes !== undefined
        ? [mapPriceChange2024(raw, receivedTimeMs)]
        : [mapPriceChange(raw, receivedTimeMs)];
    case 'book':
      return [mapBook(raw, receivedTimeMs)];
    case 'last_trade_price':
      return [
        {
          kind: 'trade',
          marketId: idOfMarket(raw.market),
          tokenId: id(raw.asset_id, 'asset_id'),
          eventTimeMs: time(raw.timestamp),
          receivedTimeMs,
          side: side(raw.side),
          price: price(raw.price, 'price'),
          size: size(raw.size),
          transactionHash: optionalText(raw.transaction_hash),
        },
      ];
    case 'tick_size_change':
      price(raw.new_tick_size, 'new_tick_size');
      return [
        {
          kind: 'tick_size_change',
          marketId: idOfMarket(raw.market),
          tokenId: id(raw.asset_id, 'asset_id'),
          eventTimeMs: time(raw.timestamp),
          receivedTimeMs,
          tickSize: raw.new_tick_size as string,
        },
      ];
    case 'best_bid_ask':
      return [
        {
          kind: 'token_quote',
          marketId: idOfMarket(raw.market),
          tokenId: id(raw.asset_id, 'asset_id'),
          eventTimeMs: time(raw.timestamp),
          receivedTimeMs,
          bestBid: bestBid(raw.best_bid),
          bestAsk: bestAsk(raw.best_ask),
        },
      ];
    case 'market_resolved':
      return [
        {
          kind: 'market_resolved',
          marketId: idOfMarket(raw.market),
          eventTimeMs: time(raw.timestamp),
          receivedTimeMs,
          winningTokenId: id(raw.winning_asset_id, 'winning_asset_id'),
          winningOutcome: id(raw.winning_outcome, 'winning_outcome'),
        },
      ];
    case 'new_market':
      return [{ kind: 'new_market', marketId: idOfMarket(raw.market), receivedTimeMs }];
    default:
      return [];
  }
}

function mapBook(raw: RawMessage, receivedTimeMs: number): BookSnapshotEvent {
  return {
    kind: 'book_snapshot',
    marketId: idOfMarket(raw.market),
    tokenId: id(raw.asset_id, 'asset_id'),
    eventTimeMs: time(raw.timestamp),
    receivedTimeMs,
    hash: id(raw.hash, 'hash'),
    bids: levels(raw.bids, 'bids'),
    asks: levels(raw.asks, 'asks'),
    tickSize: optionalText(raw.tick_size),
    lastTradePrice: raw.last_trade_price === '' ? '' : optionalText(raw.last_trade_price),
    version: isProtocolVersion(raw.version) ? raw.version : null,
  };
}

function mapPriceChange(raw: RawMessage, receivedTimeMs: number): BookChangeEvent {
  const list = raw.price_changes;
  if (!Array.isArray(list)) throw new VenueMessageError('price_changes is not an array');
  const changes: LevelChange[] = [];
  for (let i = 0; i < list.length; i++) {
    const entry = asObject(list[i]);
    changes.push({
      tokenId: id(entry.asset_id, 'asset_id'),
      side: side(entry.side),
      price: price(entry.price, 'price'),
      size: size(entry.size),
      hash: optionalText(entry.hash),
      announcesBest: entry.best_bid !== undefined && entry.best_ask !== undefined,
      bestBid: bestBid(entry.best_bid),
      bestAsk: bestAsk(entry.best_ask),
    });
  }
  return {
    kind: 'book_change',
    marketId: idOfMarket(raw.market),
    eventTimeMs: time(raw.timestamp),
    receivedTimeMs,
    changes,
  };
}

/** The format before 2025-09-15: one token per frame, no announced best prices, a hash of an older recipe. */
function mapPriceChange2024(raw: RawMessage, receivedTimeMs: number): BookChangeEvent {
  if (!Array.isArray(raw.changes)) throw new VenueMessageError('changes is not an array');
  const marketId = idOfMarket(raw.market);
  const tokenId = id(raw.asset_id, 'asset_id');
  const eventTimeMs = time(raw.timestamp);
  const changes = raw.changes.map((item: unknown): LevelChange => {
    const entry = asObject(item);
    return {
      tokenId,
      side: side(entry.side),
      price: price(entry.price, 'price'),
      size: size(entry.size),
      hash: optionalText(raw.hash),
      announcesBest: false,
      bestBid: null,
      bestAsk: null,
    };
  });
  return { kind: 'book_change', marketId, eventTimeMs, receivedTimeMs, changes };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new VenueMessageError('frame is neither JSON nor a known text', { cause });
  }
}

function asObject(value: unknown): RawMessage {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as RawMessage;
  throw new VenueMessageError('message is not an object');
}

function id(value: unknown, field: string): string {
  if (typeof value === 'string' && value.length > 0 && value.length <= ID_LENGTH_MAX) return value;
  throw new VenueMessageError(`${field} is not an id`);
}

function idOfMarket(value: unknown): string {
  const text = id(value, 'market');
  return text.length === MARKET_ID_LENGTH ? text : normalMarketId(text);
}

/** An optional text may be absent, null or "". */
function optionalText(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null;
  if (typeof value === 'string') return value;
  throw new VenueMessageError('an optional field is not text');
}

function time(value: unknown): number {
  const ms = typeof value === 'string' ? Number(value) : Number.NaN;
  if (Number.isInteger(ms) && ms >= TIME_MS_MIN && ms < TIME_MS_MAX) return ms;
  throw new VenueMessageError('timestamp is not Unix milliseconds in a string');
}

function side(value: unknown): Side {
  if (value === 'BUY' || value === 'SELL') return value;
  throw new VenueMessageError('side is neither BUY nor SELL');
}

function price(value: unknown, field: string): number {
  const ticks = typeof value === 'string' ? parsePrice(value) : null;
  if (ticks !== null) return ticks;
  throw new VenueMessageError(`${field} is not a price in [0, 1]`);
}

function size(value: unknown): number {
  const units = typeof value === 'string' ? parseSize(value) : null;
  if (units !== null) return units;
  throw new VenueMessageError('size is not a non-negative decimal');
}

/** The venue writes an empty bid side as "" or as a best bid of 0. */
function bestBid(value: unknown): number | null {
  const text = optionalText(value);
  const ticks = text === null ? null : price(text, 'best_bid');
  return ticks === 0 ? null : ticks;
}

/** The venue writes an empty ask side as "" or as a best ask of 1. */
function bestAsk(value: unknown): number | null {
  const text = optionalText(value);
  const ticks = text === null ? null : price(text, 'best_ask');
  return ticks === 10_000 ? null : ticks;
}

function levels(value: unknown, field: string): Levels {
  if (!Array.isArray(value)) throw new VenueMessageError(`${field} is not a list of levels`);
  const prices: number[] = [];
  const sizes: number[] = [];
  for (let i = 0; i < value.length; i++) {
    const level = asObject(value[i]);
    prices.push(price(level.price, 'price'));
    sizes.push(size(level.size));
  }
  return { prices, sizes };
}
