/**
 * Raw shapes of the Gamma REST interface (`GET /events`, `GET /markets`); fields that are not read are left out.
 *
 * An event holds its markets, exactly one in our series. Lists inside a market are JSON inside strings:
 * ```json
 * {"id":"260654","slug":"btc-updown-5m-1773307200","eventMetadata":{"priceToBeat":69012.5},"markets":[{
 *  "conditionId":"0x7844..","slug":"btc-updown-5m-1773307200","question":"Bitcoin Up or Down - March 12, 5:20AM-5:25AM ET",
 *  "outcomes":"[\"Up\", \"Down\"]","outcomePrices":"[\"0.505\", \"0.495\"]","clobTokenIds":"[\"1042..\", \"7118..\"]",
 *  "startDate":"2026-03-11T09:29:01.328428Z","eventStartTime":"2026-03-12T09:20:00Z","endDate":"2026-03-12T09:25:00Z",
 *  "closedTime":"2026-03-12 09:25:16+00","umaResolutionStatus":"resolved","closed":true,"acceptingOrders":false,
 *  "orderPriceMinTickSize":0.01,"feeSchedule":{"rate":0.07,"exponent":1,"takerOnly":true,"rebateRate":0.2}}]}
 * ```
 * A V2 market has `"version":"v2"`, a `conditionId` of 62 hex digits, `"clobTokenIds":null`, and its ids in `positionIds`
 * as a real list: `["6511..800","6511..801"]` (documentation of 2026-10-05; no such object was recorded). A V1 market may
 * have `positionIds` too.
 * `startDate` is the time of LISTING, about a day before the window opens, and is not read. Most
 * numbers may be absent: of 292 closed markets of 2026-07-24, `volume*` was missing in 44 and `liquidity*` in 99.
 * @see https://docs.polymarket.com/api-reference (read 2026-06-24); `eventMetadata` is undocumented.
 */
import { z } from 'zod';

const text = z.string();
const amount = z.union([z.number(), z.string()]).nullish();

const gammaFeeSchedule = z.object({
  rate: z.number().min(0).max(1),
  exponent: z.number().min(0).max(10),
});

/** Undocumented: of any type, because an unexpected one must not cost the market. */
const gammaEventMetadata = z
  .object({ priceToBeat: z.unknown().optional(), finalPrice: z.unknown().optional() })
  .nullish()
  .catch(null);

export const gammaMarket = z.object({
  conditionId: z.string().regex(/^0x[0-9a-f]{62}(?:[0-9a-f]{2})?$/i),
  version: z.unknown().optional(),
  slug: text,
  question: text,
  outcomes: text,
  outcomePrices: text.nullish(),
  clobTokenIds: z.unknown().optional(),
  positionIds: z.unknown().optional(),
  eventStartTime: text.nullish(),
  endDate: text,
  closedTime: text.nullish(),
  umaResolutionStatus: text.nullish(),
  resolutionStatus: text.nullish(),
  closed: z.boolean(),
  acceptingOrders: z.boolean().nullish(),
  orderPriceMinTickSize: amount,
  feesEnabled: z.boolean().nullish(),
  feeSchedule: gammaFeeSchedule.nullish(),
  volume: amount,
  volumeNum: amount,
  liquidity: amount,
  liquidityNum: amount,
  // Of any type: an unexpected one must not cost the market.
  resolutionSource: z.unknown().optional(),
  /** Whole seconds; absent on all 33 crypto markets read on 2026-10-04. */
  secondsDelay: z.unknown().optional(),
  cryptoMarketConfig: z
    .object({ twapEnabled: z.unknown().optional(), twapLookbackSeconds: z.number().nullish() })
    .nullish(),
});
export type GammaMarket = z.infer<typeof gammaMarket>;

/** Fields without which a market is recorded: one of an unexpected type counts as absent. */
const SPARED: ReadonlySet<unknown> = new Set([
  'outcomePrices',
  'closedTime',
  'umaResolutionStatus',
  'resolutionStatus',
  'acceptingOrders',
  'feesEnabled',
  'feeSchedule',
  'volume',
  'volumeNum',
  'liquidity',
  'liquidityNum',
  'cryptoMarketConfig',
]);

/** A field that a market has, with a value of an unexpected type. */
export interface UnreadableField {
  readonly name: string;
  readonly value: unknown;
}

interface ReadMarket {
  readonly market: GammaMarket;
  readonly unreadable: readonly UnreadableField[];
}

/** Reads a raw market. Fails where a field that is needed is absent or of another type. */
export function readGammaMarket(raw: unknown): ReadMarket | z.ZodError {
  const parsed = gammaMarket.safeParse(raw);
  if (parsed.success) return { market: parsed.data, unreadable: [] };
  const names = new Set(parsed.error.issues.map(({ path: [name] }) => name));
  if (![...names].every((name) => SPARED.has(name))) return parsed.error;
  const fields = Object.entries(raw as object);
  const market = gammaMarket.parse(Object.fromEntries(fields.filter(([name]) => !names.has(name))));
  const unreadable = fields.filter(([name]) => names.has(name));
  return { market, unreadable: unreadable.map(([name, value]) => ({ name, value })) };
}

/** An event in the format of `/events`. */
export const gammaEvent = z.object({
  id: text,
  slug: text,
  eventMetadata: gammaEventMetadata,
  markets: z.array(z.unknown()),
});

/** The event inside a market of `/markets`, without the event's own markets. */
export const gammaMarketEvents = z.object({
  events: z.array(z.object({ id: text, eventMetadata: gammaEventMetadata })).min(1),
});
