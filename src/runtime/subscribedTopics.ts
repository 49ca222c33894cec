/** A topic is silent after this long without a message. The quietest symbols pause for minutes. */
const SILENT_AFTER_MS = 600_000;

interface Topic {
  readonly feed: string;
  readonly topic: string;
  /** The connection that carries it is open. */
  isOpen: boolean;
  lastHeardMs: number | null;
  /** When it was first subscribed after the last message. Reconnects do not move it: some silent feeds reconnect often. */
  awaitedSinceMs: number | null;
}

/** The topics that this process has subscribed to, and when each delivered its last message. */
export class SubscribedTopics {
  readonly #feeds = new Map<string, Map<string, Topic>>();

  /** Call it when a connection opens. */
  subscribed(feed: string, topics: readonly string[], nowMs: number): void {
    const known = this.#feeds.get(feed) ?? new Map<string, Topic>();
    this.#feeds.set(feed, known);
    for (const topic of topics) {
      const one = known.get(topic) ?? { feed, topic, isOpen: true, lastHeardMs: null, awaitedSinceMs: null };
      known.set(topic, one);
      one.isOpen = true;
      one.awaitedSinceMs ??= nowMs;
    }
  }

  /** Call it for each message; it allocates nothing. Topics that were not subscribed are ignored. */
  heard(feed: string, topic: string, timeMs: number): void {
    const one = this.#feeds.get(feed)?.get(topic);
    if (one === undefined) return;
    one.lastHeardMs = timeMs;
    one.awaitedSinceMs = null;
  }

  /** The connection that carried these topics is lost: their silence has another cause. */
  lost(feed: string, topics: readonly string[]): void {
    for (const topic of topics) {
      const one = this.#feeds.get(feed)?.get(topic);
      if (one !== undefined) one.isOpen = false;
    }
  }

  silent(nowMs: number): { feed: string; topic: string; lastHeardMs: number | null }[] {
    return [...this.#feeds.values()].flatMap((topics) =>
      [...topics.values()].filter(({ isOpen, lastHeardMs, awaitedSinceMs }) => {
        const sinceMs = awaitedSinceMs ?? lastHeardMs;
        return isOpen && sinceMs !== null && nowMs - sinceMs >= SILENT_AFTER_MS;
      }),
    );
  }
}
