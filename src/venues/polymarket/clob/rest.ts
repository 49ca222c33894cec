import { z } from 'zod';
import { parsePrice, parseSize } from '../../../core/money.ts';
import { VenueMessageError } from '../../../runtime/errors.ts';
import type { BookSnapshotEvent, Levels } from '../../../schema/events.ts';
import { knownKeys, type MessageKinds } from '../../drift/knownKeys.ts';
import type { MessageWatch } from '../../drift/messageWatch.ts';
import type { HttpClient } from '../../http.ts';
import { parseShape } from '../../json.ts';

/** The practical limit seen for lists of ids in one request. */
const TOKENS_PER_REQUEST = 100;

const level = z.object({ price: z.string(), size: z.string() });
/**
 * One book of `POST /books`, worst price first on both sides in every answer seen:
 * ```json
 * {"market":"0x1a4f..","asset_id":"2336..","timestamp":"1728799418260","hash":"2fc4..","bids":[{"price":"0.01",
 *  "size":"1000"}],"asks":[..],"min_order_size":"5","tick_size":"0.01","neg_risk":false,"last_trade_price":"0.500"}
 * ```
 */
const book = z.object({
  market: z.string().min(1),
  asset_id: z.string().min(1),
  timestamp: z.string().regex(/^\d{13}$/),
  hash: z.string(),
  bids: z.array(level),
  asks: z.array(level),
  tick_size: z.string().nullish(),
  last_trade_price: z.string().nullish(),
});
/** `GET /markets/{conditionId}`; `winner` is false on both tokens until the market is resolved. */
const market = z.object({
  condition_id: z.string(),
  closed: z.boolean(),
  tokens: z.array(z.object({ token_id: z.string(), outcome: z.string(), winner: z.boolean() })),
});

/**
 * `GET /clob-markets/{conditionId}`, compact. `fd`: fee rate, exponent, takers only; `itode`: taker orders are delayed.
 * ```json
 * {"c":"0x60e7..","t":[{"t":"1155..","o":"Up"}],"mos":5,"mts":0.01,"itode":true,"fd":{"r":0.07,"e":1,"to":true}}
 * ```
 */
const compactMarket = z.object({
  c: z.string(),
  itode: z.boolean().nullish(),
  fd: z.object({ r: z.number().min(0).max(1), e: z.number().min(0).max(10) }).nullish(),
});

const LEVEL_KEYS = knownKeys(level);

/** The answers of these three requests, with the fields that are not read as of 2026-10. `books` is a list of `book`. */
export const CLOB_REST_KINDS = {
  books: knownKeys(''),
  book: knownKeys(book, 'min_order_size neg_risk version', { bids: LEVEL_KEYS, asks: LEVEL_KEYS }),
  market: knownKeys(
    market,
    `accepting_order_timestamp accepting_orders active archived description enable_order_book end_date_iso fpmm
     game_start_time icon image is_50_50_outcome maker_base_fee market_slug minimum_order_size minimum_tick_size neg_risk
     neg_risk_market_id neg_risk_request_id notifications_enabled question question_id rewards seconds_delay tags
     taker_base_fee`,
    { tokens: knownKeys('token_id outcome winner', 'price') },
  ),
  'clob-market': knownKeys(compactMarket, 'ao aot cbos mbf mos mts sd tbf v', {
    fd: knownKeys('r e', 'to'),
    r: knownKeys('', 'mi ma e moas'),
    t: knownKeys('', 't o'),
  }),
} satisfies MessageKinds;

/** A market's own trading rules; null where the exchange gives none. */
export interface ClobMarketRules {
  readonly feeRate: number | null;
  readonly feeExponent: number | null;
  /** Marketable orders are delayed before they match. */
  readonly holdsTakers: boolean | null;
}

export interface ClobMarket {
  readonly marketId: string;
  readonly closed: boolean;
  /** Null unless exactly one token has won. */
  readonly winner: { readonly tokenId: string; readonly outcome: string } | null;
}

/** Maps one book of `POST /books` to the same event as a book from the socket. */
export function mapRestBook(raw: unknown, receivedTimeMs: number): BookSnapshotEvent {
  const answer = parseShape(book, raw, 'clob book');
  return {
    kind: 'book_snapshot',
    marketId: answer.market,
    tokenId: answer.asset_id,
    eventTimeMs: Number(answer.timestamp),
    receivedTimeMs,
    hash: answer.hash,
    bids: levelsOf(answer.bids),
    asks: levelsOf(answer.asks),
    tickSize: answer.tick_size || null,
    lastTradePrice: answer.last_trade_price || null,
  };
}

export function mapClobMarket(raw: unknown): ClobMarket {
  const answer = parseShape(market, raw, 'clob market');
  const winners = answer.tokens.filter((token) => token.winner);
  const [winner] = winners.length === 1 ? winners : [];
  return {
    marketId: answer.condition_id,
    closed: answer.closed,
    winner: winner ? { tokenId: winner.token_id, outcome: winner.outcome } : null,
  };
}

export function mapClobMarketRules(raw: unknown): ClobMarketRules {
  const { itode, fd } = parseShape(compactMarket, raw, 'clob market rules');
  return { feeRate: fd?.r ?? null, feeExponent: fd?.e ?? null, holdsTakers: itode ?? null };
}

/** The parts of the CLOB's REST interface that recording needs. Fails as `HttpClient.get` does. */
export class ClobRest {
  readonly #baseUrl: string;
  readonly #http: HttpClient;
  readonly #watch: MessageWatch;

  constructor(options: { url: string; http: HttpClient }) {
    this.#baseUrl = options.url;
    this.#http = options.http;
    this.#watch = options.http.watch(CLOB_REST_KINDS);
  }

  /** The books of these tokens; tokens without a book (settled markets) are left out. */
  async books(tokenIds: readonly string[]): Promise<readonly BookSnapshotEvent[]> {
    const events: BookSnapshotEvent[] = [];
    for (let at = 0; at < tokenIds.length; at += TOKENS_PER_REQUEST) {
      const batch = tokenIds.slice(at, at + TOKENS_PER_REQUEST).map((tokenId) => ({ token_id: tokenId }));
      const { body, receivedTimeMs } = await this.#http.post(`${this.#baseUrl}/books`, batch);
      // The venue answers 404 when no token of the request has a book.
      const list = (raw: unknown) => parseShape(z.array(z.unknown()), raw, 'clob books');
      for (const raw of this.#watch.read('books', body ?? [], receivedTimeMs, list)) {
        const read = (one: unknown) => mapRestBook(one, receivedTimeMs);
        events.push(this.#watch.read('book', raw, receivedTimeMs, read));
      }
    }
    return events;
  }

  /** The market according to the exchange; null when unknown there. */
  async market(conditionId: string): Promise<ClobMarket | null> {
    const url = `${this.#baseUrl}/markets/${encodeURIComponent(conditionId)}`;
    return await this.#one(url, 'market', mapClobMarket);
  }

  /** The market's fee and taker delay; null when the exchange does not know the market. */
  async rules(conditionId: string): Promise<ClobMarketRules | null> {
    const url = `${this.#baseUrl}/clob-markets/${encodeURIComponent(conditionId)}`;
    return await this.#one(url, 'clob-market', mapClobMarketRules);
  }

  async #one<T>(
    url: string,
    kind: keyof typeof CLOB_REST_KINDS,
    map: (body: unknown) => T,
  ): Promise<T | null> {
    const { body, receivedTimeMs } = await this.#http.get(url);
    return body === null ? null : this.#watch.read(kind, body, receivedTimeMs, map);
  }
}

function levelsOf(raw: readonly { price: string; size: string }[]): Levels {
  const prices: number[] = [];
  const sizes: number[] = [];
  for (const { price, size } of raw) {
    const ticks = parsePrice(price);
    const units = parseSize(size);
    if (ticks === null || units === null) throw new VenueMessageError(`clob book: level ${price} x ${size}`);
    prices.push(ticks);
    sizes.push(units);
  }
  return { prices, sizes };
}
