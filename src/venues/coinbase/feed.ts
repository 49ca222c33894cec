import type { PriceFeedOptions } from '../binance/feed.ts';
import { ReconnectingSocket } from '../socket.ts';
import { coinbaseProduct } from './mapper.ts';

/** A heartbeat arrives every second, so half a minute without any frame is a stall. */
const SILENCE_LIMIT_MS = 30_000;

/** Ticker and heartbeat of all products. The venue requires the subscription within 5 s of connecting. */
export class CoinbaseFeed {
  readonly #socket: ReconnectingSocket;

  constructor(options: PriceFeedOptions) {
    const products = options.tickers.map(coinbaseProduct).filter((product) => product !== null);
    const subscribe = {
      type: 'subscribe',
      product_ids: products,
      channels: ['ticker', 'heartbeat'],
    };
    this.#socket = new ReconnectingSocket({
      ...options,
      feed: 'coinbase',
      keepAlive: null,
      silenceLimitMs: SILENCE_LIMIT_MS,
      topics: products,
      onOpen: (send) => {
        options.onConnect?.();
        send(JSON.stringify(subscribe));
      },
    });
  }

  close(): Promise<void> {
    return this.#socket.close();
  }
}
