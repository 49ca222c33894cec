import type { Clock } from '../../../clock.ts';
import type { Logger } from '../../../ops/log.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import { type KeepAlive, ReconnectingSocket } from '../../socket.ts';

const FEED = 'polymarket.clob';
/** Beyond 500 assets on one connection the venue sends no snapshot (reported 2026-07); even, so that pairs stay together. */
const ASSETS_PER_SOCKET_MAX = 400;
/** The answer comes in the data queue: up to 11.4 s late under load (seen 2026-10). */
const KEEP_ALIVE: KeepAlive = { text: 'PING', answer: 'PONG', periodMs: 10_000, answerLimitMs: 25_000 };
/** The venue drops a connection without traffic after about 125 s, and does not always say so. */
const SILENCE_LIMIT_MS = 125_000;
/** How the venue ends a connection with nothing left to send; asking again at once would only repeat it. */
const ALL_RESOLVED = /\ball subscribed assets resolved\b/;

export interface ClobFeedOptions {
  /** Whole URL of the market channel. */
  readonly url: string;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly silenceLimitMs?: number;
  /** Every text frame in the order of its socket, texts that are no JSON (PONG, NO NEW ASSETS) too. */
  readonly onFrame: (frame: string, receivedTimeMs: number) => void;
  /** The books of these tokens are no longer known; new snapshots follow by themselves. */
  readonly onDisconnect: (tokenIds: readonly string[], cause: string, receivedTimeMs: number) => void;
}

/**
 * The market channel on as many sockets as its subscriptions need. A group (one ticker and window kind) has
 * sockets of its own, so that a slow or broken one touches no other group; tokens passed in one call share a
 * socket while they fit.
 */
export class ClobFeed {
  readonly #options: ClobFeedOptions;
  readonly #groups = new Map<string, ClobSocket[]>();

  constructor(options: ClobFeedOptions) {
    this.#options = options;
  }

  /** Adds tokens to a group; those it already has are left as they are. */
  subscribe(group: string, tokenIds: readonly string[]): void {
    const sockets = this.#groups.get(group) ?? [];
    this.#groups.set(group, sockets);
    const known = (tokenId: string) => sockets.some((socket) => socket.tokens.has(tokenId));
    const added = [...new Set(tokenIds)].filter((tokenId) => !known(tokenId));
    for (let at = 0; at < added.length; at += ASSETS_PER_SOCKET_MAX) {
      const batch = added.slice(at, at + ASSETS_PER_SOCKET_MAX);
      const roomy = sockets.find((socket) => socket.tokens.size + batch.length <= ASSETS_PER_SOCKET_MAX);
      if (roomy) roomy.add(batch);
      else sockets.push(new ClobSocket(this.#options, group, batch));
    }
  }

  /** Takes tokens out of a group; a socket with none left is closed. */
  unsubscribe(group: string, tokenIds: readonly string[]): void {
    const left: ClobSocket[] = [];
    for (const socket of this.#groups.get(group) ?? []) {
      socket.remove(tokenIds);
      if (socket.tokens.size > 0) left.push(socket);
      else void socket.close();
    }
    if (left.length > 0) this.#groups.set(group, left);
    else this.#groups.delete(group);
  }

  /** Closes every socket; `onDisconnect` is not called for it. */
  async close(): Promise<void> {
    const sockets = [...this.#groups.values()].flat();
    this.#groups.clear();
    await Promise.all(sockets.map((socket) => socket.close()));
  }
}

class ClobSocket {
  readonly tokens: Set<string>;
  readonly #socket: ReconnectingSocket;
  /** The venue ended the last connection because all it had asked for was over. */
  #allResolved = false;

  constructor(options: ClobFeedOptions, group: string, tokenIds: readonly string[]) {
    this.tokens = new Set(tokenIds);
    this.#socket = new ReconnectingSocket({
      ...options,
      feed: FEED,
      group,
      keepAlive: KEEP_ALIVE,
      silenceLimitMs: options.silenceLimitMs ?? SILENCE_LIMIT_MS,
      onOpen: (send) => send(JSON.stringify({ ...this.#assets(this.tokens), type: 'market' })),
      onDown: ({ cause, receivedTimeMs }) => {
        this.#allResolved = ALL_RESOLVED.test(cause);
        options.onDisconnect([...this.tokens], cause, receivedTimeMs);
      },
      isRefusal: (cause) => ALL_RESOLVED.test(cause),
    });
  }

  add(tokenIds: readonly string[]): void {
    for (const tokenId of tokenIds) this.tokens.add(tokenId);
    this.#operate('subscribe', tokenIds);
    // The long pause after "all resolved" was meant for the old tokens.
    if (this.#allResolved) this.#socket.retryNow();
    this.#allResolved = false;
  }

  remove(tokenIds: readonly string[]): void {
    const removed = tokenIds.filter((tokenId) => this.tokens.delete(tokenId));
    if (removed.length > 0) this.#operate('unsubscribe', removed);
  }

  close(): Promise<void> {
    return this.#socket.close();
  }

  #operate(operation: 'subscribe' | 'unsubscribe', tokenIds: readonly string[]): void {
    this.#socket.send(JSON.stringify({ ...this.#assets(tokenIds), operation }));
  }

  /** The flag is the connection's, and the last write wins: it goes with every message. */
  #assets(tokenIds: Iterable<string>): object {
    return { assets_ids: [...tokenIds], custom_feature_enabled: true };
  }
}
