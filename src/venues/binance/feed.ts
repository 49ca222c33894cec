import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { Ticker } from '../../schema/market.ts';
import { ReconnectingSocket } from '../socket.ts';
import type { SocketDriver } from '../venueSocket.ts';
import { binanceSymbol } from './mapper.ts';

/** BTC alone trades tens of times a second; half a minute without any trade is a stall. */
const SILENCE_LIMIT_MS = 30_000;

/** Options of every price feed that uses one socket. */
export interface PriceFeedOptions {
  readonly url: string;
  readonly tickers: readonly Ticker[];
  readonly sockets: SocketDriver;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly onFrame: (frame: string, receivedTimeMs: number) => void;
  /** Called on every new connection, before any frame. */
  readonly onConnect?: () => void;
}

/**
 * Spot trades of all tickers on one combined stream. The venue sends protocol pings, which the socket answers by
 * itself, and ends each connection after 24 hours.
 */
export class BinanceFeed {
  readonly #socket: ReconnectingSocket;

  constructor(options: PriceFeedOptions) {
    const streams = options.tickers.map((ticker) => `${binanceSymbol(ticker).toLowerCase()}@trade`);
    this.#socket = new ReconnectingSocket({
      ...options,
      url: `${options.url}/stream?streams=${streams.join('/')}`,
      feed: 'binance',
      keepAlive: null,
      silenceLimitMs: SILENCE_LIMIT_MS,
      topics: options.tickers.map(binanceSymbol),
      onOpen: () => {},
    });
  }

  close(): Promise<void> {
    return this.#socket.close();
  }
}
