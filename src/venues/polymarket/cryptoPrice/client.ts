/**
 * The price at which a window opened, as the venue's website shows it. The endpoint is undocumented; the website and a
 * large wallet's client read it (2026-08-18). Answers after and before a price exists (read 2025-12-06, 2026-05-14):
 * ```json
 * {"openPrice":89299.0560483538,"closePrice":89530.1902704494,"timestamp":1765012902842,"completed":true,
 *  "incomplete":false,"cached":true}
 * {"openPrice":null,"closePrice":null,"timestamp":0,"completed":false,"incomplete":true,"cached":false}
 * ```
 * `incomplete` is true until the window has closed. Without the two TWAP parameters the answer is a spot price, which
 * does not decide a window since 2026-08-07. Answers are cached for about 10 s.
 */
import { z } from 'zod';
import type { EventType, Ticker } from '../../../schema/market.ts';
import { knownKeys, type MessageKinds } from '../../drift/knownKeys.ts';
import type { MessageWatch } from '../../drift/messageWatch.ts';
import type { HttpClient } from '../../http.ts';
import { parseShape } from '../../json.ts';

const answerShape = z.object({
  openPrice: z.number().positive().nullable(),
  timestamp: z.number().int().nonnegative().optional(),
});

export const CRYPTO_PRICE_KINDS = {
  'open price': knownKeys(answerShape, 'closePrice completed incomplete cached'),
} satisfies MessageKinds;

/** The endpoint's names of windows. That of 4h is not known, and a wrong name is answered with the price of another hour. */
const VARIANTS: Partial<Record<EventType, string>> = {
  '5m': 'fiveminute',
  '15m': 'fifteen',
};

/** Whether the endpoint can be asked for such a window. */
export function hasOpenPrice(eventType: EventType): boolean {
  return VARIANTS[eventType] !== undefined;
}

export interface OpenPriceQuery {
  readonly ticker: Ticker;
  readonly eventType: EventType;
  readonly startTimeMs: number;
  readonly endTimeMs: number;
  readonly lookbackSeconds: number;
}

export class CryptoPriceClient {
  readonly #url: string;
  readonly #http: HttpClient;
  readonly #watch: MessageWatch;

  constructor(options: { url: string; http: HttpClient }) {
    this.#url = options.url;
    this.#http = options.http;
    this.#watch = options.http.watch(CRYPTO_PRICE_KINDS);
  }

  /**
   * The open price of a window; null while the venue has none. Fails as `HttpClient.get` does.
   * @throws {VenueMessageError} When the answer has another shape.
   */
  async openPrice(query: OpenPriceQuery): Promise<number | null> {
    const parameters = new URLSearchParams({
      symbol: query.ticker,
      eventStartTime: isoSeconds(query.startTimeMs),
      variant: VARIANTS[query.eventType] ?? '',
      endDate: isoSeconds(query.endTimeMs),
      twapEnabled: 'true',
      twapLookbackSeconds: String(query.lookbackSeconds),
    });
    const { body, receivedTimeMs } = await this.#http.get(`${this.#url}?${parameters}`);
    if (body === null) return null;
    const read = (raw: unknown) => parseShape(answerShape, raw, 'crypto-price');
    const { openPrice, timestamp } = this.#watch.read('open price', body, receivedTimeMs, read);
    // An answer from the cache may be older than the window; its price is that of another moment.
    return timestamp !== undefined && timestamp < query.startTimeMs ? null : openPrice;
  }
}

/** The endpoint expects times without milliseconds. */
function isoSeconds(timeMs: number): string {
  return `${new Date(timeMs).toISOString().slice(0, 19)}Z`;
}
