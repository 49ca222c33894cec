/**
 * The outcomes of markets, from the Data API: `GET /v2/resolutions?condition=<id>[,..]`, at most 20 condition ids of 64
 * hex digits (62 digits are refused, since the shorter form of protocol V2 is known to Gamma alone):
 * ```json
 * {"data":[{"condition_id":"0x0177..","status":"resolved","was_disputed":false,"market_type":"BINARY",
 *  "payouts":[1000000,0],"resolution_source":"reported","reporter":"CHAINLINK","resolved_at":"2026-10-05T21:35:56Z"}]}
 * ```
 * `payouts` are micro-USDC per share in the order of the listing's outcomes. Some markets of the UMA oracle have `price`
 * instead. Errors are `{"error","code","retryable"}`.
 * @see https://data-api.polymarket.com/v2/openapi.json (real answers of 2026-10-05 and 2026-10-08)
 */
import { z } from 'zod';
import { VenueMessageError } from '../../../runtime/errors.ts';
import { knownKeys, type MessageKinds } from '../../drift/knownKeys.ts';
import type { MessageWatch } from '../../drift/messageWatch.ts';
import type { HttpClient } from '../../http.ts';
import { parseShape } from '../../json.ts';
import { timeOf } from '../gamma/fields.ts';

export const CONDITIONS_PER_REQUEST = 20;
const MICRO_USDC = 1_000_000;
/** What one share of the first outcome may pay: all, nothing, or half of it where both outcomes tie. */
const FIRST_PAYOUTS: readonly number[] = [0, MICRO_USDC / 2, MICRO_USDC];

const envelope = z.object({ data: z.array(z.unknown()) });
const row = z.object({
  condition_id: z.string().regex(/^0x[0-9a-f]{64}$/i),
  status: z.string(),
  payouts: z.array(z.number()).nullish(),
  resolved_at: z.string().nullish(),
});

/** Fields of an answer; those of a row after `resolved_at` are not read (real answers of 2026-10-05). */
export const DATA_API_KINDS = {
  resolutions: knownKeys('data', 'pagination', {
    data: knownKeys(
      row,
      `extended_review was_disputed new_version_q transaction_hash log_index last_update_timestamp market_type price
      resolution_source reporter was_arbitrated resolved_block`,
    ),
  }),
} satisfies MessageKinds;

/** The final payout of a market. */
export interface ReportedPayout {
  /** In lower case. */
  readonly marketId: string;
  /** USDC that one share of the listing's first outcome pays: 1, 0 or 0.5; the second pays the rest. */
  readonly firstPayout: number;
  /** The venue's time; null where it gives none. */
  readonly resolvedTimeMs: number | null;
}

interface Resolutions {
  readonly final: readonly ReportedPayout[];
  /** Rows that say `resolved` without payouts of a market with two outcomes, or that cannot be read. */
  readonly unusable: readonly string[];
}

/** @throws {VenueMessageError} If the answer has no list of rows. */
export function mapResolutions(body: unknown): Resolutions {
  const final: ReportedPayout[] = [];
  const unusable: string[] = [];
  for (const raw of parseShape(envelope, body, 'data api resolutions').data) {
    const read = row.safeParse(raw);
    if (read.success && read.data.status !== 'resolved') continue;
    const firstPayout = read.success ? firstPayoutOf(read.data.payouts ?? []) : null;
    if (!read.success || firstPayout === null) {
      unusable.push(JSON.stringify(raw).slice(0, 300));
      continue;
    }
    const { condition_id, resolved_at } = read.data;
    final.push({ marketId: condition_id.toLowerCase(), firstPayout, resolvedTimeMs: timeOf(resolved_at) });
  }
  return { final, unusable };
}

function firstPayoutOf([first, second, ...others]: readonly number[]): number | null {
  if (first === undefined || second === undefined || others.length > 0) return null;
  return FIRST_PAYOUTS.includes(first) && first + second === MICRO_USDC ? first / MICRO_USDC : null;
}

/** The part of the Data API that settlement needs. Fails as `HttpClient.get` does. */
export class DataApi {
  readonly #baseUrl: string;
  readonly #http: HttpClient;
  readonly #watch: MessageWatch;

  constructor(options: { url: string; http: HttpClient }) {
    this.#baseUrl = options.url;
    this.#http = options.http;
    this.#watch = options.http.watch(DATA_API_KINDS);
  }

  /** @param conditionIds At most `CONDITIONS_PER_REQUEST`, of 64 hex digits each. */
  async resolutions(conditionIds: readonly string[]): Promise<Resolutions> {
    const path = '/v2/resolutions';
    const asked = `${this.#baseUrl}${path}?condition=${conditionIds.join(',')}`;
    const { body, receivedTimeMs } = await this.#http.get(asked);
    if (body === null) throw new VenueMessageError(`polymarket.data: there is no ${path}`);
    return this.#watch.read('resolutions', body, receivedTimeMs, mapResolutions);
  }
}
