import { contradictsTable, VENUE_RULES_VERSION } from '../core/venueRules.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Market } from '../schema/market.ts';
import type { GammaListing } from '../venues/polymarket/gamma/mapper.ts';

interface NewestListing {
  /** When the venue made the answer; monotonic. */
  readonly madeAt: number;
  /** The place of Up in the listing's outcomes. */
  readonly upIndex: 0 | 1;
}

/** What the newest listing of each market says beside its record: how old it is, and the order of its outcomes. */
export class ListingFacts {
  readonly #log: Logger;
  readonly #newest = new Map<string, NewestListing>();
  readonly #contradictions;
  readonly #outdated;

  constructor({ log, metrics }: { log: Logger; metrics: Metrics }) {
    this.#log = log;
    this.#contradictions = metrics.counter(
      'underround_settlement_contradictions_total',
      'Markets whose listing names another deciding price than the table of rules',
      ['market_type'],
    );
    this.#outdated = metrics.counter(
      'underround_listings_outdated_total',
      'Objects of the market listing not taken because a newer answer had been read',
    );
  }

  /** @returns False if a newer listing of the market was read before: then this one must change nothing. */
  accept({ market: { slug }, upIndex }: GammaListing, madeAt: number): boolean {
    if (madeAt < (this.#newest.get(slug)?.madeAt ?? madeAt)) {
      this.#outdated.inc();
      return false;
    }
    this.#newest.set(slug, { madeAt, upIndex });
    return true;
  }

  /** The place of Up in the listing's outcomes; null for a market that this run has not read yet. */
  upIndexOf(slug: string): 0 | 1 | null {
    return this.#newest.get(slug)?.upIndex ?? null;
  }

  forget(slug: string): void {
    this.#newest.delete(slug);
  }

  /** Reports once that a market's own listing names another deciding price than the table; the listing applies. */
  noteContradiction(known: Market | null, market: Market): void {
    if (!contradictsTable(market) || (known !== null && contradictsTable(known))) return;
    const { slug, eventType, decidingFeed, twapLookbackSeconds } = market;
    this.#contradictions.inc({ market_type: eventType });
    this.#log.warn(
      { slug, decidingFeed, twapLookbackSeconds, table: VENUE_RULES_VERSION },
      'market.rule_contradicted',
    );
  }
}
