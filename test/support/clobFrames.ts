/** Frames of the CLOB as the connections of a shard merge them: of one market, without levels. */

const MARKET_ID = '0xabc';

/** Books of these tokens after a trade, in one frame. @param timestamp The venue's, Unix milliseconds. */
export function bookFrame(timestamp: number, ...tokenIds: string[]): string {
  return JSON.stringify(
    tokenIds.map((asset_id) => ({
      ...{ event_type: 'book', asset_id, market: MARKET_ID },
      ...{ timestamp: String(timestamp), last_trade_price: '0.500' },
    })),
  );
}

/** A change of the market. @param timestamp The venue's, Unix milliseconds. */
export function changeFrame(timestamp: number): string {
  return JSON.stringify({
    ...{ market: MARKET_ID, timestamp: String(timestamp) },
    event_type: 'price_change',
  });
}
