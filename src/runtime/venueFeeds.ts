/** What one row of the list of feeds says: all connections of one feed and group together. */
export interface FeedRow {
  readonly feed: string;
  /** E.g. `BTC-5m`; null where a feed has one kind of connection alone. */
  readonly group: string | null;
  readonly kind: 'socket' | 'requests';
  readonly connections: number;
  /** Open sockets; of requests, whether the last one was answered. */
  readonly up: number;
  /** Receipt of the newest message or answer, Unix ms; null before the first. */
  readonly lastMessageMs: number | null;
  /** When the first of them was wanted; null where nobody noted it. */
  readonly sinceMs: number | null;
  readonly failures: number;
  readonly lastFailure: { readonly cause: string; readonly timeMs: number } | null;
}

/** One connection to a venue, or all requests to one of its addresses, as it fares. Cheap: written on every message. */
export class VenueFeed {
  readonly feed: string;
  readonly group: string | null;
  readonly kind: FeedRow['kind'];
  readonly sinceMs: number | null;
  isUp = false;
  lastMessageMs: number | null = null;
  failures = 0;
  lastFailure: FeedRow['lastFailure'] = null;

  constructor(options: { feed: string; group?: string | null; kind: FeedRow['kind']; sinceMs?: number }) {
    const { feed, group = null, kind, sinceMs = null } = options;
    this.sinceMs = sinceMs;
    this.feed = feed;
    this.group = group;
    this.kind = kind;
  }

  failed(cause: string, timeMs: number): void {
    this.isUp = false;
    this.failures++;
    this.lastFailure = { cause, timeMs };
  }
}

/** Every connection this process has to a venue. */
export class VenueFeeds {
  readonly #feeds = new Set<VenueFeed>();

  join(options: ConstructorParameters<typeof VenueFeed>[0]): VenueFeed {
    const feed = new VenueFeed(options);
    this.#feeds.add(feed);
    return feed;
  }

  /** Is no longer wanted, which is no failure. */
  leave(feed: VenueFeed): void {
    this.#feeds.delete(feed);
  }

  /** By feed, then by group. */
  rows(): FeedRow[] {
    const rows = new Map<string, FeedRow>();
    for (const feed of this.#feeds) {
      const name = `${feed.feed} ${feed.group ?? ''}`;
      rows.set(name, together(rows.get(name), feed));
    }
    return [...rows].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  }
}

function together(row: FeedRow | undefined, { feed, group, kind, ...one }: VenueFeed): FeedRow {
  const { isUp, lastMessageMs, sinceMs, failures, lastFailure } = one;
  return {
    ...{ feed, group, kind },
    connections: (row?.connections ?? 0) + 1,
    up: (row?.up ?? 0) + (isUp ? 1 : 0),
    lastMessageMs: newest([row?.lastMessageMs ?? null, lastMessageMs]),
    sinceMs: row?.sinceMs ?? sinceMs,
    failures: (row?.failures ?? 0) + failures,
    lastFailure: [row?.lastFailure ?? null, lastFailure].reduce((a, b) =>
      a === null || (b !== null && b.timeMs > a.timeMs) ? b : a,
    ),
  };
}

function newest(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.max(...known);
}
