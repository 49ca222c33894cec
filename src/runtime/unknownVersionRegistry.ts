/** Most rows and most markets remembered; a venue has one or two versions at a time. */
const ROWS_MAX = 20;
const MARKETS_MAX = 5_000;

/** A protocol version that this service does not know, with the market for which it was stated. */
export interface UnknownVersion {
  readonly where: string;
  readonly version: string;
  /** Slug in a listing, condition id elsewhere. */
  readonly market: string;
  readonly timeMs: number;
}

export interface UnknownVersionRow {
  readonly where: string;
  readonly version: string;
  markets: number;
  newestMarket: string;
  lastTimeMs: number;
}

/** The protocol versions of this run that the service refused, for the operator. */
export class UnknownVersionRegistry {
  readonly #rows = new Map<string, UnknownVersionRow>();
  readonly #markets = new Set<string>();

  /** @returns Whether this version is new for this market and place. */
  note({ where, version, market, timeMs }: UnknownVersion): boolean {
    const key = `${where} ${version}`;
    const known = this.#rows.get(key);
    if (known === undefined && this.#rows.size >= ROWS_MAX) return false;
    const row = known ?? { where, version, markets: 0, newestMarket: market, lastTimeMs: timeMs };
    this.#rows.set(key, row);
    row.lastTimeMs = Math.max(row.lastTimeMs, timeMs);
    const marketKey = `${key} ${market}`;
    if (this.#markets.has(marketKey)) return false;
    if (this.#markets.size >= MARKETS_MAX)
      this.#markets.delete(this.#markets.values().next().value as string);
    this.#markets.add(marketKey);
    row.markets++;
    row.newestMarket = market;
    return true;
  }

  /** In the order in which they were first noted. */
  rows(): readonly Readonly<UnknownVersionRow>[] {
    return [...this.#rows.values()];
  }
}
