/**
 * The faults of a venue, set by tests and by the `/control` route. Every protocol of the server reads this one object,
 * which does nothing by itself. Counts decrease with use.
 */
import { z } from 'zod';
import { PERP_VENUES, type PerpVenueName } from '../schema/events.ts';

export const faultSchema = z.discriminatedUnion('fault', [
  z.object({ fault: z.literal('duplicate_frames'), count: z.int().min(1).max(100_000) }),
  z.object({ fault: z.literal('lose_frames'), count: z.int().min(1).max(100_000) }),
  z.object({ fault: z.literal('reorder'), delayMs: z.int().min(0).max(10_000) }),
  z.object({
    fault: z.literal('late_frames'),
    feed: z.enum(['clob', 'relay', 'polybolt', 'spot', 'all']).default('all'),
    delayMs: z.int().min(0).max(120_000),
  }),
  z.object({ fault: z.literal('relay_removed'), atMs: z.int().min(0).nullable() }),
  z.object({
    fault: z.literal('polybolt_lost'),
    count: z.int().min(1).max(100_000),
    isReported: z.boolean().default(true),
  }),
  z.object({
    fault: z.literal('polybolt_close'),
    code: z.union([z.literal(4001), z.literal(4002), z.literal(4003), z.literal(4008), z.literal(1006)]),
  }),
  z.object({ fault: z.literal('silent_stall'), on: z.boolean() }),
  z.object({ fault: z.literal('half_open'), on: z.boolean() }),
  z.object({ fault: z.literal('freeze_token'), tokenId: z.string(), on: z.boolean() }),
  z.object({ fault: z.literal('pong_delay'), delayMs: z.int().min(0).max(60_000) }),
  z.object({ fault: z.literal('close'), code: z.union([z.literal(1013), z.literal(1000), z.literal(1006)]) }),
  z.object({
    fault: z.literal('venue_restart'),
    /** How long the engine is away: connections are dropped and refused, requests are answered with 425. */
    downMs: z.int().min(0).max(600_000).default(90_000),
    /** How long it is post-only afterwards. */
    postOnlyMs: z.int().min(0).max(600_000).default(120_000),
  }),
  z.object({
    fault: z.literal('gamma_answer'),
    answer: z.enum(['forbidden', 'too_many', 'html']),
    count: z.int().min(1).max(100_000),
  }),
  z.object({ fault: z.literal('zombie_market'), on: z.boolean() }),
  z.object({ fault: z.literal('last_year_slug'), on: z.boolean() }),
  z.object({ fault: z.literal('reversed_outcomes'), on: z.boolean() }),
  z.object({ fault: z.literal('missing_fields'), on: z.boolean() }),
  z.object({ fault: z.literal('settled_token'), tokenId: z.string(), on: z.boolean() }),
  z.object({ fault: z.literal('clock_skew'), offsetMs: z.int().min(-600_000).max(600_000) }),
  z.object({ fault: z.literal('tick_change'), marketId: z.string() }),
  z.object({
    fault: z.literal('quote_apart'),
    marketId: z.string(),
    upAsk: z.int().min(20).max(980),
    downAsk: z.int().min(20).max(980),
  }),
  z.object({
    fault: z.literal('perp_answer'),
    answer: z.enum(['forbidden', 'too_many']),
    count: z.int().min(1).max(100_000),
    /** Bybit unless another is named. */
    venue: z.enum(PERP_VENUES).optional(),
  }),
]);
export type Fault = z.infer<typeof faultSchema>;
export type RefusedAnswer = 'forbidden' | 'too_many' | 'html';

const LATE_FEEDS = ['clob', 'relay', 'polybolt', 'spot'] as const;

export class FaultState {
  duplicatesLeft = 0;
  lossesLeft = 0;
  /** Delay of prints and books after the level changes to which they belong. */
  reorderDelayMs = 0;
  /** Delay of each frame of a feed. */
  readonly lateMs = { clob: 0, relay: 0, polybolt: 0, spot: 0 };
  /** From this time on RTDS does not exist any more; null: it stays. */
  relayRemovedAtMs: number | null = null;
  /** Data frames of PolyBolt that are still to be lost, and whether the next one reports them in `dropped`. */
  polyboltLosses = { left: 0, isReported: true };
  /** Sockets answer PING and send nothing else. */
  silentStall = false;
  /** Sockets stay open and send nothing at all. */
  halfOpen = false;
  pongDelayMs = 0;
  zombieMarket = false;
  lastYearSlug = false;
  reversedOutcomes = false;
  missingFields = false;
  /** The engine restarts until the first time, by the venue's clock, and is post-only until the second. */
  restart = { untilMs: 0, postOnlyUntilMs: 0 };
  readonly frozenTokens = new Set<string>();
  readonly settledTokens = new Set<string>();
  #gamma: { answer: RefusedAnswer; left: number } | null = null;
  readonly #perp = new Map<PerpVenueName, { answer: RefusedAnswer; left: number }>();

  /**
   * Sets a fault that needs only this state. Closing sockets, clock skew, tick sizes and quotes act on the
   * server and the model, which handle them before calling this.
   */
  set(fault: Fault): void {
    switch (fault.fault) {
      case 'duplicate_frames':
        this.duplicatesLeft = fault.count;
        break;
      case 'lose_frames':
        this.lossesLeft = fault.count;
        break;
      case 'reorder':
        this.reorderDelayMs = fault.delayMs;
        break;
      case 'late_frames':
        for (const feed of LATE_FEEDS)
          if (fault.feed === feed || fault.feed === 'all') this.lateMs[feed] = fault.delayMs;
        break;
      case 'relay_removed':
        this.relayRemovedAtMs = fault.atMs;
        break;
      case 'polybolt_lost':
        this.polyboltLosses = { left: fault.count, isReported: fault.isReported };
        break;
      case 'silent_stall':
        this.silentStall = fault.on;
        break;
      case 'half_open':
        this.halfOpen = fault.on;
        break;
      case 'freeze_token':
        toggle(this.frozenTokens, fault.tokenId, fault.on);
        break;
      case 'settled_token':
        toggle(this.settledTokens, fault.tokenId, fault.on);
        break;
      case 'pong_delay':
        this.pongDelayMs = fault.delayMs;
        break;
      case 'gamma_answer':
        this.#gamma = { answer: fault.answer, left: fault.count };
        break;
      case 'perp_answer':
        this.#perp.set(fault.venue ?? 'bybit', { answer: fault.answer, left: fault.count });
        break;
      default:
        this.#setListing(fault);
    }
  }

  isRelayRemoved(nowMs: number): boolean {
    return this.relayRemovedAtMs !== null && nowMs >= this.relayRemovedAtMs;
  }

  /** The refusal of this Gamma request, or null. */
  consumeGammaRefusal(): RefusedAnswer | null {
    return consume(this.#gamma);
  }

  consumePerpRefusal(venue: PerpVenueName): RefusedAnswer | null {
    return consume(this.#perp.get(venue) ?? null);
  }

  #setListing(fault: Fault): void {
    if (fault.fault === 'zombie_market') this.zombieMarket = fault.on;
    if (fault.fault === 'last_year_slug') this.lastYearSlug = fault.on;
    if (fault.fault === 'reversed_outcomes') this.reversedOutcomes = fault.on;
    if (fault.fault === 'missing_fields') this.missingFields = fault.on;
  }
}

function toggle(set: Set<string>, value: string, on: boolean): void {
  if (on) set.add(value);
  else set.delete(value);
}

function consume(refusal: { answer: RefusedAnswer; left: number } | null): RefusedAnswer | null {
  if (!refusal || refusal.left <= 0) return null;
  refusal.left--;
  return refusal.answer;
}
