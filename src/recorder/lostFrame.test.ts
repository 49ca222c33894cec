import { expect, it } from 'vitest';
import { marketOfLostFrame } from './lostFrame.ts';

const CHANGE =
  '{"market":"0xaa","price_changes":[{"asset_id":"1","price":"0.5"}],"event_type":"price_change"}';

it.each([
  ['a change', CHANGE],
  ['a change cut off within its type', CHANGE.slice(0, -9)],
  ['a change cut off before its type', CHANGE.slice(0, 45)],
  ['a line of a recording that holds it as text', JSON.stringify({ frame: CHANGE }).slice(0, -1)],
  ['a trade', '{"event_type": "last_trade_price", "market": "0xaa"'],
])('reports a loss of the market for unreadable data: %s', (_, text) => {
  expect(marketOfLostFrame(text)).toBe('0xaa');
});

it.each([
  ['best prices', '{"event_type":"best_bid_ask","market":"0xaa","best_bid":1}'],
  ['a listing', '{"event_type":"new_market","market":"0xaa","assets_ids":1}'],
  ['a change that names no market', CHANGE.slice(17)],
  ['no frame at all', '<html>'],
])('reports no loss for %s', (_, text) => {
  expect(marketOfLostFrame(text)).toBeNull();
});
