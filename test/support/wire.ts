import { LadderSide } from '../../src/core/ladderSide.ts';
import { formatPrice, formatSize } from '../../src/core/money.ts';
import { type Market, NO_SETTLEMENT } from '../../src/schema/market.ts';
import type { ProtocolVersion } from '../../src/schema/protocol.ts';
import { bookHash } from '../../src/venues/polymarket/book/bookHash.ts';

export const MARKET: Market = {
  marketId: `0x${'ab'.repeat(32)}`,
  eventId: 'e1',
  slug: 'btc-updown-5m-1795176000',
  question: 'Bitcoin Up or Down',
  eventType: '5m',
  ticker: 'BTC',
  yesTokenId: '1'.repeat(77),
  noTokenId: '2'.repeat(77),
  status: 'open',
  startTimeMs: 1_795_176_000_000,
  endTimeMs: 1_795_176_300_000,
  strikePrice: null,
  strikeSource: null,
  closePrice: null,
  outcome: null,
  payoutYes: null,
  resolvedTimeMs: null,
  volume: null,
  liquidity: null,
  tickSize: 100,
  takerFeeRate: 0.07,
  takerFeeExponent: 1,
  takerDelayMs: null,
  recordedSinceMs: null,
  ...NO_SETTLEMENT,
};

type Change = { side: 'BUY' | 'SELL'; price: number; size: number };

/** A venue with one market for tests: it keeps the true book and prints it like the market channel. */
export class WireMarket {
  readonly bids = new LadderSide('bids');
  readonly asks = new LadderSide('asks');
  readonly #noBids = new LadderSide('bids');
  readonly #noAsks = new LadderSide('asks');
  readonly #market: Market;
  lastTradePrice = '0.500';
  tickSize = '0.01';
  readonly #version: ProtocolVersion;

  constructor(market: Market = MARKET, version: ProtocolVersion = 'v1') {
    this.#market = market;
    this.#version = version;
  }

  /** Sets a level of YES and its mirror of NO without sending it. */
  set({ side, price, size }: Change): void {
    (side === 'BUY' ? this.bids : this.asks).set(price, size);
    (side === 'BUY' ? this.#noAsks : this.#noBids).set(10_000 - price, size);
  }

  /** The initial snapshot of both tokens: one frame, an array. */
  snapshot(timeMs: number): string {
    const version = this.#version === 'v2' ? { version: 'v2' } : {};
    const extra = { tick_size: this.tickSize, last_trade_price: this.lastTradePrice, ...version };
    return JSON.stringify([
      { ...this.#book('yes', timeMs), ...extra },
      { ...this.#book('no', timeMs), ...extra },
    ]);
  }

  /** The two `book` frames after a trade. */
  books(timeMs: number): string[] {
    return [JSON.stringify(this.#book('yes', timeMs)), JSON.stringify(this.#book('no', timeMs))];
  }

  /** One action: applied completely, then sent as one frame per change, each with the final state. */
  action(timeMs: number, changes: readonly Change[]): string[] {
    for (const change of changes) this.set(change);
    return changes.map((change) =>
      JSON.stringify({
        market: this.#market.marketId,
        price_changes: [this.#entry('yes', timeMs, change), this.#entry('no', timeMs, mirror(change))],
        timestamp: String(timeMs),
        event_type: 'price_change',
      }),
    );
  }

  trade(timeMs: number, { price, size, id = '0x1' }: { price: number; size: number; id?: string }): string {
    this.lastTradePrice = (price / 10_000).toFixed(3);
    return JSON.stringify({
      market: this.#market.marketId,
      asset_id: this.#market.yesTokenId,
      price: formatPrice(price),
      size: formatSize(size),
      fee_rate_bps: '0',
      side: 'BUY',
      timestamp: String(timeMs),
      transaction_hash: id,
      event_type: 'last_trade_price',
    });
  }

  #sides(token: 'yes' | 'no') {
    return token === 'yes'
      ? { bids: this.bids, asks: this.asks }
      : { bids: this.#noBids, asks: this.#noAsks };
  }

  #hash(token: 'yes' | 'no', timeMs: number): string {
    const { bids, asks } = this.#sides(token);
    return bookHash({
      marketId: this.#market.marketId,
      tokenId: this.#tokenId(token),
      timestampMs: timeMs,
      bidsJson: bids.toWireJson(),
      asksJson: asks.toWireJson(),
      tickSize: this.tickSize,
      lastTradePrice: this.lastTradePrice,
      minOrderSize: '5',
      negRisk: false,
      version: this.#version,
    });
  }

  #tokenId(token: 'yes' | 'no'): string {
    return token === 'yes' ? this.#market.yesTokenId : this.#market.noTokenId;
  }

  #book(token: 'yes' | 'no', timeMs: number) {
    const { bids, asks } = this.#sides(token);
    return {
      market: this.#market.marketId,
      asset_id: this.#tokenId(token),
      timestamp: String(timeMs),
      hash: this.#hash(token, timeMs),
      bids: JSON.parse(bids.toWireJson()),
      asks: JSON.parse(asks.toWireJson()),
      event_type: 'book',
    };
  }

  #entry(token: 'yes' | 'no', timeMs: number, change: Change) {
    const { bids, asks } = this.#sides(token);
    return {
      asset_id: this.#tokenId(token),
      price: formatPrice(change.price),
      size: formatSize(change.size),
      side: change.side,
      hash: this.#hash(token, timeMs),
      best_bid: bids.best === null ? '' : formatPrice(bids.best),
      best_ask: asks.best === null ? '' : formatPrice(asks.best),
    };
  }
}

function mirror({ side, price, size }: Change): Change {
  return { side: side === 'BUY' ? 'SELL' : 'BUY', price: 10_000 - price, size };
}
