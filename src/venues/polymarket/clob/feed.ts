import { ClobShard, type ClobShardOptions } from './shard.ts';

/** Beyond 500 assets per connection the venue sends no snapshot (reported 2026-07); even: pairs stay together. */
const ASSETS_PER_SOCKET_MAX = 400;
/**
 * Above this load of a group's least loaded connection a new window gets another one: three times the mean of the
 * busiest series (275 changes a second of 2026-03, about 80 kB). A window stays where it is: moving its live book
 * would interrupt it, and each series has a new window soon.
 */
const LOAD_MAX_BYTES_PER_SECOND = 250_000;
/** A burst of all windows at once must not open connections without end. */
const SHARDS_BY_LOAD_MAX = 4;
/** While connections are lost, one of them tries this often; the others follow as soon as one is up. */
const SCOUT_PERIOD_MS = 700;
/** Rate-limits reconnects to a venue that accepts connections and immediately drops them. */
const FOLLOW_PERIOD_MS = 5_000;

interface ClobFeedOptions extends Omit<ClobShardOptions, 'url'> {
  /** Whole URL of the market channel. */
  readonly url: string;
  /** Whether a group gets two connections, so that either may fail unnoticed; default: none does. */
  readonly isDoubled?: (group: string) => boolean;
}

/**
 * The market channel on as many sockets as its subscriptions and their load need. Each group (one ticker and window
 * length) has its own sockets, so that a slow or broken socket affects no other group. Tokens passed in one call share a
 * socket while they fit.
 */
export class ClobFeed {
  readonly #options: ClobFeedOptions;
  readonly #groups = new Map<string, ClobShard[]>();
  #scoutedAt = Number.NEGATIVE_INFINITY;
  #scoutTurn = 0;
  #followedAt = Number.NEGATIVE_INFINITY;
  #downBefore = 0;

  constructor(options: ClobFeedOptions) {
    this.#options = options;
  }

  /** Adds tokens to a group; tokens already in it are unaffected. */
  subscribe(group: string, tokenIds: readonly string[]): void {
    const shards = this.#groups.get(group) ?? [];
    this.#groups.set(group, shards);
    const known = (tokenId: string) => shards.some((shard) => shard.tokens.has(tokenId));
    const added = [...new Set(tokenIds)].filter((tokenId) => !known(tokenId));
    const connections = this.#options.isDoubled?.(group) ? 2 : 1;
    for (let at = 0; at < added.length; at += ASSETS_PER_SOCKET_MAX) {
      const batch = added.slice(at, at + ASSETS_PER_SOCKET_MAX);
      const roomy = leastLoaded(shards, batch.length);
      if (roomy) roomy.add(batch);
      else shards.push(new ClobShard(this.#options, group, batch, connections));
    }
  }

  /** Removes tokens from a group and closes a socket that has none left. */
  unsubscribe(group: string, tokenIds: readonly string[]): void {
    const left: ClobShard[] = [];
    for (const shard of this.#groups.get(group) ?? []) {
      shard.remove(tokenIds);
      if (shard.tokens.size > 0) left.push(shard);
      else void shard.close();
    }
    if (left.length > 0) this.#groups.set(group, left);
    else this.#groups.delete(group);
  }

  /** Requests the books of these tokens again on every connection that carries them. */
  resubscribe(group: string, tokenIds: readonly string[]): void {
    for (const shard of this.#groups.get(group) ?? []) shard.renew(tokenIds);
  }

  /** Replaces the group's connections; lost tokens are reported as for any disconnect. */
  reconnect(group: string, cause: string): void {
    for (const shard of this.#groups.get(group) ?? [])
      for (const connection of shard.connections) connection.reconnect(cause);
  }

  /** Whether any connection of the group is open. */
  isUp(group: string): boolean {
    return (this.#groups.get(group) ?? []).some((shard) =>
      shard.connections.some((connection) => connection.isUp),
    );
  }

  /** Whether two open connections carry the group. */
  isDoubled(group: string): boolean {
    const shards = this.#groups.get(group) ?? [];
    return shards.some(
      ({ connections }) => connections.length > 1 && connections.every((connection) => connection.isUp),
    );
  }

  /** Time since a group's last frame other than keep-alive answers; Infinity where it has no connection. */
  silentForMs(group: string): number {
    const shards = this.#groups.get(group) ?? [];
    return Math.min(Number.POSITIVE_INFINITY, ...shards.map((shard) => shard.silentForMs()));
  }

  /**
   * Replaces half-open twins and retries lost connections; call it a few times a second.
   * @returns Whether every frame received so far has been delivered. If not, silence means nothing yet.
   */
  maintain(): boolean {
    // After a pause of this thread, waiting frames may end a silence.
    const isCurrent = this.#options.sockets.receiveWaiting();
    const connections = [];
    for (const shards of this.#groups.values()) {
      for (const shard of shards) {
        if (isCurrent) shard.maintain();
        connections.push(...shard.connections);
      }
    }
    const down = connections.filter((connection) => !connection.isUp);
    const isBack = down.length > 0 && down.length < this.#downBefore;
    this.#downBefore = down.length;
    const nowMs = this.#options.clock.monotonic();
    if (isBack && nowMs - this.#followedAt >= FOLLOW_PERIOD_MS) {
      this.#followedAt = nowMs;
      for (const connection of down) connection.tryNow();
    } else if (down.length > 0 && nowMs - this.#scoutedAt >= SCOUT_PERIOD_MS) {
      this.#scoutedAt = nowMs;
      down[this.#scoutTurn++ % down.length]?.tryNow();
    }
    return isCurrent;
  }

  /** Closes every socket without calling `onDisconnect`. */
  async close(): Promise<void> {
    const shards = [...this.#groups.values()].flat();
    this.#groups.clear();
    await Promise.all(shards.map((shard) => shard.close()));
  }
}

/** The shard for a new batch of tokens; undefined if they need a connection of their own. */
function leastLoaded(shards: readonly ClobShard[], batchSize: number): ClobShard | undefined {
  const [best] = shards
    .filter(({ tokens }) => tokens.size + batchSize <= ASSETS_PER_SOCKET_MAX)
    .map((shard) => ({ shard, load: shard.bytesPerSecond }))
    .sort((a, b) => a.load - b.load);
  if (best === undefined) return undefined;
  const mayOpen = shards.length < SHARDS_BY_LOAD_MAX;
  return mayOpen && best.load > LOAD_MAX_BYTES_PER_SECOND ? undefined : best.shard;
}
