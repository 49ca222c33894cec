import { z } from 'zod';
import { parsePrice, parseSize } from '../../../core/money.ts';
import { VenueMessageError } from '../../../runtime/errors.ts';
import type { BookSnapshotEvent, Levels } from '../../../schema/events.ts';
import type { HttpClient } from '../../http.ts';
import { parseShape } from '../../json.ts';
import { takerDelayOf } from '../takerDelay.ts';

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
  seconds_delay: z.unknown().optional(),
});

/**
 * `GET /clob-markets/{conditionId}`, compact. `fd`: fee rate, exponent, takers only; `itode`: taker orders are delayed;
 * `sd`: for how many whole seconds, seen in sports only.
 * ```json
 * {"c":"0x60e7..","t":[{"t":"1155..","o":"Up"}],"mos":5,"mts":0.01,"itode":true,"fd":{"r":0.07,"e":1,"to":true}}
 * ```
 */
const compactMarket = z.object({
  c: z.string(),
  itode: z.boolean().nullish(),
  sd: z.unknown().optional(),
  fd: z.object({ r: z.number().min(0).max(1), e: z.number().min(0).max(10) }).nullish(),
});

/** A market's own trading rules; null where the exchange gives none. */
export interface ClobMarketRules {
  readonly feeRate: number | null;
  readonly feeExponent: number | null;
  /** How long the exchange delays marketable orders of this market; 0: not at all. */
  readonly takerDelayMs: number | null;
}

export interface ClobMarket {
  readonly marketId: string;
  readonly closed: boolean;
  /** Null unless exactly one token has won. */
  readonly winner: { readonly tokenId: string; readonly outcome: string } | null;
  /** As in `ClobMarketRules`, from another field. */
  readonly takerDelayMs: number | null;
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
    takerDelayMs: takerDelayOf(answer.seconds_delay),
  };
}

/**
 * `itode: true` without `sd` names no length: the table's delay applies. Only an explicit `itode: false` means that there
 * is none. The exchange omits a false flag, but an answer that merely lacks it may also be of a newer format (the
 * Python client of 2026-10-29 has the delay in milliseconds, under a name not known here), and a delay taken for 0 would
 * flatter every backtest.
 */
export function mapClobMarketRules(raw: unknown): ClobMarketRules {
  const { itode, sd, fd } = parseShape(compactMarket, raw, 'clob market rules');
  const takerDelayMs = takerDelayOf(sd) ?? (itode === false ? 0 : null);
  return { feeRate: fd?.r ?? null, feeExponent: fd?.e ?? null, takerDelayMs };
}

/** The parts of the CLOB's REST interface that recording needs. Fails as `HttpClient.get` does. */
export class ClobRest {
  readonly #baseUrl: string;
  readonly #http: HttpClient;

  constructor(options: { url: string; http: HttpClient }) {
    this.#baseUrl = options.url;
    this.#http = options.http;
  }

  /** The books of these tokens; tokens without a book (settled markets) are left out. */
  async books(tokenIds: readonly string[]): Promise<readonly BookSnapshotEvent[]> {
    const events: BookSnapshotEvent[] = [];
    for (let at = 0; at < tokenIds.length; at += TOKENS_PER_REQUEST) {
      const batch = tokenIds.slice(at, at + TOKENS_PER_REQUEST).map((tokenId) => ({ token_id: tokenId }));
      const { body, receivedTimeMs } = await this.#http.post(`${this.#baseUrl}/books`, batch);
      // The venue answers 404 when no token of the request has a book.
      for (const raw of parseShape(z.array(z.unknown()), body ?? [], 'clob books')) {
        events.push(mapRestBook(raw, receivedTimeMs));
      }
    }
    return events;
  }

  /** The market according to the exchange; null when unknown there. */
  async market(conditionId: string): Promise<ClobMarket | null> {
    const { body } = await this.#http.get(`${this.#baseUrl}/markets/${encodeURIComponent(conditionId)}`);
    return body === null ? null : mapClobMarket(body);
  }

  /** The market's fee and taker delay; null when the exchange does not know the market. */
  async rules(conditionId: string): Promise<ClobMarketRules | null> {
    const { body } = await this.#http.get(`${this.#baseUrl}/clob-markets/${encodeURIComponent(conditionId)}`);
    return body === null ? null : mapClobMarketRules(body);
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
