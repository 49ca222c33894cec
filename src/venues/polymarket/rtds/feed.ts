import type { PriceFeedOptions } from '../../binance/feed.ts';
import { ReconnectingSocket } from '../../socket.ts';
import type { KeepAlive } from '../../venueSocket.ts';
import { rtdsSymbol } from './mapper.ts';
import { CHAINLINK_TOPIC, rtdsTopic, TWAP60_TOPIC } from './messages.ts';

const PRICE_FRAME = /"topic"\s*:\s*"crypto_prices_/;
const TOPICS = [CHAINLINK_TOPIC, TWAP60_TOPIC];
/** Sources disagree on whether the venue answers, so only silence counts. */
const KEEP_ALIVE: KeepAlive = { text: 'PING', answer: 'PONG', periodMs: 5_000, answerLimitMs: null };
/** One point a second is due; the feed freezes silently (92 pauses over 5 s on one day, the longest 387 s). */
const SILENCE_LIMIT_MS = 20_000;

/**
 * Sources also disagree on the filter for one symbol: compact JSON (a space breaks it), the plain name, or an empty
 * text for all symbols. A spelling that delivered no price before the connection ended is replaced by the next one.
 */
const FILTER_SPELLINGS: readonly ((symbol: string) => string)[] = [
  (symbol) => JSON.stringify({ symbol }),
  (symbol) => symbol,
  () => '',
];

/** Chainlink prices and their 60 s averages for all tickers. */
export class RtdsFeed {
  readonly #socket: ReconnectingSocket;
  #spelling = 0;
  #delivered = false;

  constructor(options: PriceFeedOptions) {
    this.#socket = new ReconnectingSocket({
      ...options,
      feed: 'polymarket.rtds',
      keepAlive: KEEP_ALIVE,
      silenceLimitMs: SILENCE_LIMIT_MS,
      topics: TOPICS.flatMap((topic) =>
        options.tickers.map((ticker) => rtdsTopic(topic, rtdsSymbol(ticker))),
      ),
      onOpen: (send) => {
        this.#delivered = false;
        const symbols = options.tickers.map(rtdsSymbol);
        // A topic that the venue has removed silences its whole frame.
        for (const topic of TOPICS) send(subscription(topic, symbols, this.#spelling));
      },
      onFrame: (frame, receivedTimeMs) => {
        this.#delivered ||= PRICE_FRAME.test(frame);
        options.onFrame(frame, receivedTimeMs);
      },
      onDown: () => {
        if (!this.#delivered) this.#spelling = (this.#spelling + 1) % FILTER_SPELLINGS.length;
      },
    });
  }

  close(): Promise<void> {
    return this.#socket.close();
  }
}

function subscription(topic: string, symbols: readonly string[], spelling: number): string {
  const spell = FILTER_SPELLINGS[spelling] ?? (() => '');
  const filters = [...new Set(symbols.map(spell))];
  const subscriptions = filters.map((text) => ({ topic, type: '*', filters: text }));
  return JSON.stringify({ action: 'subscribe', subscriptions });
}
