import { knownKeys, type MessageKinds } from '../../drift/knownKeys.ts';

const LEVEL = knownKeys('price size');
const CHANGE = knownKeys('asset_id price size side hash best_bid best_ask');
const MESSAGE = 'market timestamp event_type';

/** The messages of the market channel, as recorded up to 2026-10; `mapper.ts` reads them without a schema. */
export const CLOB_KINDS = {
  book: knownKeys(
    `${MESSAGE} asset_id hash tick_size last_trade_price`,
    // `version` is sent with the books of protocol V2 (recorded 2026-10-05).
    'min_order_size neg_risk version',
    { bids: LEVEL, asks: LEVEL },
  ),
  // `changes`, and one `asset_id` and `hash` for all of them, until 2025-09-15.
  price_change: knownKeys(`${MESSAGE} asset_id hash`, '', {
    price_changes: CHANGE,
    changes: knownKeys('price size side'),
  }),
  last_trade_price: knownKeys(`${MESSAGE} asset_id price size side transaction_hash`, 'fee_rate_bps'),
  tick_size_change: knownKeys(`${MESSAGE} asset_id new_tick_size`, 'old_tick_size'),
  best_bid_ask: knownKeys(`${MESSAGE} asset_id best_bid best_ask`, 'spread'),
  market_resolved: knownKeys(
    `${MESSAGE} winning_asset_id winning_outcome`,
    'id assets_ids event_message tags',
  ),
  new_market: knownKeys(
    MESSAGE,
    `slug assets_ids outcomes id question description tags condition_id active clob_token_ids sports_market_type line game_start_time
     order_price_min_tick_size group_item_title taker_base_fee fees_enabled`,
    {
      event_message: knownKeys('', 'id ticker slug title description'),
      fee_schedule: knownKeys('', 'exponent rate taker_only rebate_rate'),
    },
  ),
} satisfies MessageKinds;
