/**
 * Raw messages of the CLOB market channel, as recorded. Numbers are decimal strings, timestamps strings of
 * Unix milliseconds; any frame is one object or an array of them. `wss://ws-subscriptions-clob.polymarket.com/ws/market`
 *
 *   book              {"market":"0x..","asset_id":"..","timestamp":"1766481546487","hash":"40 hex","bids":[{"price":"0.01","size":"3641.8"}],
 *                      "asks":[..],"event_type":"book","tick_size":"0.01","last_trade_price":"0.500"}   (last two: initial snapshot only)
 *   price_change      {"market":"0x..","price_changes":[{"asset_id":"..","price":"0.49","size":"55","side":"BUY","hash":"..",
 *                      "best_bid":"0.49","best_ask":"0.5"}],"timestamp":"..","event_type":"price_change"}
 *   (until 2025-09-15) {"market","asset_id","changes":[{"price","side","size"}],"hash","timestamp","event_type":"price_change"}
 *   last_trade_price  {"market","asset_id","price","size","side","timestamp","transaction_hash","event_type"}
 *   tick_size_change  {"market","asset_id","old_tick_size","new_tick_size","timestamp","event_type"}
 *   best_bid_ask      {"market","asset_id","best_bid","best_ask","spread","timestamp","event_type"}
 *   market_resolved   {"market","assets_ids":[2],"winning_asset_id","winning_outcome","timestamp","event_type"}
 *   new_market        {"market","slug","assets_ids":[..],"outcomes":[..],"timestamp","event_type"}
 *
 * Books of protocol V2 end with `"version":"v2"` (recorded 2026-10-05); `last_trade_price` is "" before the first trade.
 * Other V2 messages were never recorded: `version` is accepted in all of them.
 */
export type RawMessage = Readonly<Record<string, unknown>>;

/** Text frames that are not JSON and carry no data; recorded 2026-10. */
export const TEXT_FRAMES: ReadonlySet<string> = new Set([
  'PONG',
  'NO NEW ASSETS',
  'INVALID MESSAGE',
  'INVALID OPERATION',
]);
