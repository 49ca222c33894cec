import type { Counter } from 'prom-client';
import { ClobConnection, type ClobConnectionOptions } from './connection.ts';
import { ConnectionMerge } from './connectionMerge.ts';
import { type ConnectionIndex, type FirstBook, JoinBuffer, otherOf } from './joinBuffer.ts';

/** A connection silent for this long while its twin delivers many frames is half-open. */
const CONNECTION_SILENCE_MS = 6_000;
const CONNECTION_BEHIND_FRAMES = 30;

export interface ClobShardOptions extends ClobConnectionOptions {
  /** Receives every text frame once, in the order of the first copies. */
  readonly onFrame: (frame: string, receivedTimeMs: number) => void;
  /** No connection carries these tokens any more; new books follow without a request. */
  readonly onDisconnect: (tokenIds: readonly string[], cause: string, receivedTimeMs: number) => void;
}

/** Tokens that share one connection, or two merged connections with the same frames, of which either may fail. */
export class ClobShard {
  readonly tokens: Set<string>;
  readonly connections: readonly ClobConnection[];
  readonly #options: ClobShardOptions;
  readonly #group: string;
  readonly #merge = new ConnectionMerge();
  readonly #joins: JoinBuffer;
  readonly #framesSeen: number[];
  readonly #repeated: Counter;

  constructor(options: ClobShardOptions, group: string, tokenIds: readonly string[], connectionCount: 1 | 2) {
    this.#options = options;
    this.#joins = new JoinBuffer(options.clock);
    this.#group = group;
    this.tokens = new Set(tokenIds);
    this.#repeated = options.metrics.counter(
      'underround_clob_second_copies_total',
      'Frames that the other of two connections had brought already',
    );
    this.connections = Array.from({ length: connectionCount }, (_, i) => this.#open(i as ConnectionIndex));
    this.#framesSeen = this.connections.map(() => 0);
  }

  /** Recent bytes of data a second on the busier of its connections. */
  get bytesPerSecond(): number {
    return Math.max(...this.connections.map(({ load }) => load.bytesPerSecond));
  }

  /** Time since any connection delivered data. */
  silentForMs(): number {
    const last = Math.max(...this.connections.map((connection) => connection.lastDataAt));
    return this.#options.clock.monotonic() - last;
  }

  add(tokenIds: readonly string[]): void {
    for (const tokenId of tokenIds) this.tokens.add(tokenId);
    for (const connection of this.connections) connection.add(tokenIds);
  }

  remove(tokenIds: readonly string[]): void {
    const removed = tokenIds.filter((tokenId) => this.tokens.delete(tokenId));
    this.#joins.forget(removed);
    if (removed.length > 0) for (const connection of this.connections) connection.remove(removed);
  }

  renew(tokenIds: readonly string[]): void {
    const ours = tokenIds.filter((tokenId) => this.tokens.has(tokenId));
    this.#joins.forget(ours);
    if (ours.length > 0) for (const connection of this.connections) connection.renew(ours);
  }

  /** Replaces a connection that has gone silent while its twin delivered frames; no book becomes untrusted. */
  maintain(): void {
    const [a, b] = this.connections;
    if (a === undefined || b === undefined) return;
    for (const index of [0, 1] as const) this.#passHeld(index, 'due');
    const nowMs = this.#options.clock.monotonic();
    for (const [i, connection, other] of [[0, a, b] as const, [1, b, a] as const]) {
      // A connection that has just been opened could not deliver anything before.
      const silentMs = nowMs - Math.max(connection.lastDataAt, connection.openedAt);
      // Counts the twin's frames since this connection last spoke.
      if (silentMs < 1000) this.#framesSeen[i] = other.frames;
      const behind = other.frames - (this.#framesSeen[i] ?? 0);
      if (!connection.isUp || silentMs < CONNECTION_SILENCE_MS || behind < CONNECTION_BEHIND_FRAMES) continue;
      connection.reconnect(`silent for ${CONNECTION_SILENCE_MS} ms beside its twin`);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.connections.map((connection) => connection.close()));
  }

  #open(index: ConnectionIndex): ClobConnection {
    return new ClobConnection(this.#options, this.#group, this.tokens, {
      onFrame: (text, receivedTimeMs) => this.#received(index, text, receivedTimeMs),
      onDown: (cause, receivedTimeMs) => this.#down(index, cause, receivedTimeMs),
    });
  }

  #received(index: ConnectionIndex, text: string, receivedTimeMs: number): void {
    const { onFrame } = this.#options;
    const other = this.connections[otherOf(index)];
    const snapshots = text.startsWith('[') ? firstBooks(text) : null;
    if (snapshots !== null) {
      const connection = this.connections[index];
      const [news, repeated]: [FirstBook[], FirstBook[]] = [[], []];
      for (const book of snapshots) (other?.served.has(book.asset_id) ? repeated : news).push(book);
      for (const { asset_id } of snapshots) connection?.served.add(asset_id);
      // The twin already delivers these books' changes: a snapshot in between could only skip some.
      if (other !== undefined) this.#joins.onBooks(index, { news, repeated });
      if (news.length > 0)
        onFrame(news.length === snapshots.length ? text : JSON.stringify(news), receivedTimeMs);
      return;
    }
    // Keep-alive answers and other texts belong to one connection.
    if (other === undefined || !(text.startsWith('{') || text.startsWith('['))) {
      onFrame(text, receivedTimeMs);
      return;
    }
    if (this.#joins.hold(index, text)) return;
    this.#pass(index, text, receivedTimeMs);
    for (const held of this.#joins.releasedBy(index, text)) this.#pass(otherOf(index), held, receivedTimeMs);
  }

  /** Passes a frame unless the twin has already delivered it. */
  #pass(index: ConnectionIndex, text: string, receivedTimeMs: number): void {
    const { clock, onFrame } = this.#options;
    const isOtherUp = this.connections[otherOf(index)]?.isUp ?? false;
    if (this.#merge.offer(index, text, clock.monotonic(), isOtherUp)) onFrame(text, receivedTimeMs);
    else this.#repeated.inc();
  }

  /** Passes the books and held frames of a connection whose twin has not caught up. Changes in between are lost. */
  #passHeld(index: ConnectionIndex, which: 'all' | 'due'): void {
    const { clock, onFrame } = this.#options;
    for (const text of this.#joins.drain(index, which)) {
      if (text.startsWith('[')) onFrame(text, clock.now());
      else this.#pass(index, text, clock.now());
    }
  }

  #down(index: ConnectionIndex, cause: string, receivedTimeMs: number): void {
    const other = this.connections[otherOf(index)];
    this.#merge.lost(index);
    this.#joins.onDown(index);
    const served = this.connections[index]?.served;
    const joining = this.#joins.joiningTokens(otherOf(index));
    const lost = [...this.tokens].filter((tokenId) => {
      if (other === undefined || !other.isUp || joining.has(tokenId)) return true;
      return !other.served.has(tokenId) && served?.has(tokenId) === true;
    });
    if (lost.length > 0) this.#options.onDisconnect(lost, cause, receivedTimeMs);
    this.#passHeld(otherOf(index), 'all');
  }
}

/** The books that answer a subscription; null for any other frame. Only these books carry the last trade. */
function firstBooks(text: string): FirstBook[] | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The mapper reports the error in the frame.
    return null;
  }
  if (!Array.isArray(parsed) || parsed.length === 0) return null;
  const isFirst = (item: Readonly<Record<string, unknown>> | null) =>
    item?.event_type === 'book' && typeof item.asset_id === 'string' && item.last_trade_price !== undefined;
  return parsed.every(isFirst) ? parsed : null;
}
