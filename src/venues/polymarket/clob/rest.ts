import { z } from 'zod';
import { parsePrice, parseSize } from '../../../core/money.ts';
import { VenueMessageError } from '../../../runtime/errors.ts';
import type { Logger } from '../../../runtime/log.ts';
import type { Metrics } from '../../../runtime/metrics.ts';
import type { BookSnapshotEvent, Levels } from '../../../schema/events.ts';
import {
  isProtocolVersion,
  normalMarketId,
  unknownVersion,
  type VersionPlace,
} from '../../../schema/protocol.ts';
import { knownKeys, type MessageKinds } from '../../drift/knownKeys.ts';
import type { MessageWatch } from '../../drift/messageWatch.ts';
import type { HttpClient } from '../../http.ts';
import { parseShape } from '../../json.ts';
import { isVenueTime } from '../../venueTime.ts';
import { reportUnknownVersion } from '../reportUnknownVersion.ts';
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
 * A V2 book ends with `"version":"v2"` (recorded 2026-10-05); a V1 book has no such key.
 */
const book = z.object({
  market: z.string().min(1),
  asset_id: z.string().min(1),
  timestamp: z
    .string()
    .regex(/^\d{13}$/)
    .refine((text) => isVenueTime(Number(text))),
  hash: z.string(),
  bids: z.array(level),
  asks: z.array(level),
  tick_size: z.string().nullish(),
  last_trade_price: z.string().nullish(),
  version: z.unknown().optional(),
});
/** `GET /markets/{conditionId}`; `winner` is false on both tokens until the market is resolved. */
const market = z.object({
  condition_id: z.string(),
  closed: z.boolean(),
  tokens: z.array(z.object({ token_id: z.string(), outcome: z.string(), winner: z.boolean() })),
  seconds_delay: z.unknown().optional(),
});

/**
 * `GET /clob-markets/{conditionId}`, compact, for ids of 64 hex digits. `fd`: fee rate, exponent, takers only;
 * `itode`: taker orders are delayed; `sd`: for how many whole seconds, seen in sports only; `t`: each token with its
 * outcome; `v`: undocumented, seen as v1 and v2 (2026-10-05).
 * ```json
 * {"c":"0x60e7..","t":[{"t":"1155..","o":"Up"}],"mos":5,"mts":0.01,"itode":true,"fd":{"r":0.07,"e":1,"to":true},"v":"v1"}
 * ```
 */
const compactMarket = z.object({
  c: z.string(),
  t: z.array(z.object({ t: z.string(), o: z.string() })).nullish(),
  itode: z.boolean().nullish(),
  sd: z.unknown().optional(),
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
  /** How long the exchange delays marketable orders of this market; 0: not at all. */
  readonly takerDelayMs: number | null;
  /** The exchange's labels of the tokens; empty where it gives none. */
  readonly tokens: readonly { readonly tokenId: string; readonly outcome: string }[];
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
    marketId: normalMarketId(answer.market),
    tokenId: answer.asset_id,
    eventTimeMs: Number(answer.timestamp),
    receivedTimeMs,
    hash: answer.hash,
    bids: levelsOf(answer.bids),
    asks: levelsOf(answer.asks),
    tickSize: answer.tick_size || null,
    lastTradePrice: answer.last_trade_price ?? null,
    version: isProtocolVersion(answer.version) ? answer.version : null,
  };
}

export function mapClobMarket(raw: unknown): ClobMarket {
  const answer = parseShape(market, raw, 'clob market');
  const winners = answer.tokens.filter((token) => token.winner);
  const [winner] = winners.length === 1 ? winners : [];
  return {
    marketId: normalMarketId(answer.condition_id),
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
  const { itode, sd, fd, t } = parseShape(compactMarket, raw, 'clob market rules');
  const takerDelayMs = takerDelayOf(sd) ?? (itode === false ? 0 : null);
  const tokens = (t ?? []).map((token) => ({ tokenId: token.t, outcome: token.o }));
  return { feeRate: fd?.r ?? null, feeExponent: fd?.e ?? null, takerDelayMs, tokens };
}

interface ClobRestOptions {
  readonly url: string;
  readonly http: HttpClient;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** The parts of the CLOB's REST interface that recording needs. Fails as `HttpClient.get` does. */
export class ClobRest {
  readonly #baseUrl: string;
  readonly #options: ClobRestOptions;
  readonly #http: HttpClient;
  readonly #watch: MessageWatch;

  constructor(options: ClobRestOptions) {
    this.#baseUrl = options.url;
    this.#options = options;
    this.#http = options.http;
    this.#watch = options.http.watch(CLOB_REST_KINDS);
  }

  /**
   * The books of these tokens. Left out are tokens without a book (settled markets) and books that cannot be used.
   * @param onUnusable Called with each token whose book may exist but could not be read, or is of an unknown protocol
   *   version. Where such a book does not name its token, these are all tokens of its request without a book.
   */
  async books(
    tokenIds: readonly string[],
    onUnusable: (tokenId: string) => void = () => {},
  ): Promise<readonly BookSnapshotEvent[]> {
    const events: BookSnapshotEvent[] = [];
    for (let at = 0; at < tokenIds.length; at += TOKENS_PER_REQUEST) {
      const batch = tokenIds.slice(at, at + TOKENS_PER_REQUEST);
      const asked = batch.map((tokenId) => ({ token_id: tokenId }));
      const { body, receivedTimeMs } = await this.#http.post(`${this.#baseUrl}/books`, asked);
      // The venue answers 404 when no token of the request has a book.
      const list = (raw: unknown) => parseShape(z.array(z.unknown()), raw, 'clob books');
      const left = new Set(batch);
      const unusable: unknown[] = [];
      for (const raw of this.#watch.read('books', body ?? [], receivedTimeMs, list)) {
        const event = this.#bookOf(raw, receivedTimeMs);
        if (event === null) unusable.push((raw as { asset_id?: unknown } | null)?.asset_id);
        else {
          events.push(event);
          left.delete(event.tokenId);
        }
      }
      const isNamed = unusable.every((tokenId) => batch.includes(tokenId as string));
      for (const tokenId of left) if (!isNamed || unusable.includes(tokenId)) onUnusable(tokenId);
    }
    return events;
  }

  /** Null for a book that cannot be used; it is set aside, and the other books of its answer are used. */
  #bookOf(raw: unknown, receivedTimeMs: number): BookSnapshotEvent | null {
    const version = { field: 'version', id: 'market', timeMs: receivedTimeMs };
    if (this.#isUnknown('book', raw, version)) return null;
    try {
      return this.#watch.read('book', raw, receivedTimeMs, (one) => mapRestBook(one, receivedTimeMs));
    } catch (error) {
      if (error instanceof VenueMessageError) return null;
      throw error;
    }
  }

  /** The market according to the exchange; null when unknown there. */
  async market(conditionId: string): Promise<ClobMarket | null> {
    const url = `${this.#baseUrl}/markets/${encodeURIComponent(conditionId)}`;
    const { body, receivedTimeMs } = await this.#http.get(url);
    return body === null ? null : this.#watch.read('market', body, receivedTimeMs, mapClobMarket);
  }

  /** The market's fee, taker delay and labels; null for a market or protocol version that is unknown. */
  async rules(conditionId: string): Promise<ClobMarketRules | null> {
    const url = `${this.#baseUrl}/clob-markets/${encodeURIComponent(conditionId)}`;
    const { body, receivedTimeMs } = await this.#http.get(url);
    const isUnknown = this.#isUnknown('clob_market', body, { field: 'v', id: 'c', timeMs: receivedTimeMs });
    if (body === null || isUnknown) return null;
    return this.#watch.read('clob-market', body, receivedTimeMs, mapClobMarketRules);
  }

  /** Reports and sets aside an answer of an unknown protocol version. Answers of another shape are left to their mapper. */
  #isUnknown(
    where: VersionPlace,
    raw: unknown,
    { field, id, timeMs }: { field: string; id: string; timeMs: number },
  ): boolean {
    const answer = z.record(z.string(), z.unknown()).safeParse(raw).data;
    const version = unknownVersion(answer?.[field]);
    if (version === null) return false;
    reportUnknownVersion(this.#options, { where, version, market: String(answer?.[id]), timeMs });
    const why = { kind: where, reason: `protocol version ${version}`, receivedTimeMs: timeMs };
    this.#watch.refused(JSON.stringify(raw), why);
    return true;
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
