/** One row of the feed list: all connections of one feed and group combined. */
export interface FeedRow {
  readonly feed: string;
  /** E.g. `BTC-5m`; null where a feed has only one kind of connection. */
  readonly group: string | null;
  readonly kind: 'socket' | 'requests';
  readonly connections: number;
  /** Open sockets; for requests: whether the last one was answered. */
  readonly up: number;
  /** Receive time of the newest message or answer, Unix ms; null before the first. */
  readonly lastMessageMs: number | null;
  /** When the first connection was opened; null if not recorded. */
  readonly sinceMs: number | null;
  readonly failures: number;
  readonly lastFailure: { readonly cause: string; readonly timeMs: number } | null;
}

/** The state of one connection to a venue, or of all requests to one address. Cheap: it is updated on every message. */
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

/** All connections of this process to venues. */
export class VenueFeedRegistry {
  readonly #feeds = new Set<VenueFeed>();

  join(options: ConstructorParameters<typeof VenueFeed>[0]): VenueFeed {
    const feed = new VenueFeed(options);
    this.#feeds.add(feed);
    return feed;
  }

  /** Removes a connection that is no longer needed; this is not a failure. */
  leave(feed: VenueFeed): void {
    this.#feeds.delete(feed);
  }

  /** Ordered by feed, then by group. */
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
    feed,
    group,
    kind,
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
