import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import type { Identity } from '../accounts/keys/authenticate.ts';
import type { LiveKeys } from '../accounts/keys/liveKeys.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { type CloseCause, Connection } from './connection.ts';
import type { StreamMetrics } from './streamMetrics.ts';

/** How long clients may take to close when the service stops. */
const CLOSE_TIMEOUT_MS = 2_000;

export type StreamName = 'market' | 'opportunity' | 'board' | 'replay';

/** The open connections of all streams; each is closed when its key no longer permits it. */
export class ConnectionRegistry {
  readonly #parts: {
    readonly liveKeys: Pick<LiveKeys, 'watch'>;
    readonly clock: Clock;
    readonly log: Logger;
    readonly metrics: StreamMetrics;
  };
  readonly #open = new Map<Connection, WebSocket>();
  /** Keyed by stream and user. */
  readonly #counts = new Map<string, number>();
  #isClosing = false;

  constructor(parts: {
    liveKeys: Pick<LiveKeys, 'watch'>;
    clock: Clock;
    log: Logger;
    metrics: StreamMetrics;
  }) {
    this.#parts = parts;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Connections of one user, with any of their keys. */
  count(stream: StreamName, { userId }: Pick<Identity, 'userId'>): number {
    return this.#counts.get(`${stream} ${userId}`) ?? 0;
  }

  /** Serves an admitted client. @param serve Hands the connection to its stream. */
  open(
    { socket, transport }: { socket: WebSocket; transport: Duplex },
    {
      stream,
      identity,
      serve,
    }: { stream: StreamName; identity: Identity; serve: (connection: Connection) => void },
  ): void {
    const { liveKeys, log, metrics } = this.#parts;
    const connection = new Connection(socket, transport, { ...this.#parts, stream });
    const { userId, keyId } = identity;
    metrics.opened(stream);
    this.#open.set(connection, socket);
    socket.once('close', () => this.#open.delete(connection));
    serve(connection);
    // Its stream may have ended it at once.
    if (!connection.isOpen) return;
    this.#note(stream, userId, 1);
    const unwatch = liveKeys.watch(identity, (why) => {
      log.info({ key_id: keyId, stream, why }, 'stream.key_gone');
      connection.close('forbidden');
    });
    const ended = connection.onClosed;
    connection.onClosed = () => {
      unwatch();
      this.#note(stream, userId, -1);
      ended?.();
    };
    if (this.#isClosing) connection.close('goingAway');
  }

  /** Closes all connections; resolves after `CLOSE_TIMEOUT_MS` at the latest. */
  async close(cause: CloseCause = 'goingAway'): Promise<void> {
    this.#isClosing = true;
    if (this.#open.size === 0) return;
    const sockets = [...this.#open];
    const parted = sockets.map(
      ([, socket]) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    );
    for (const [connection] of sockets) connection.close(cause);
    const cut = this.#parts.clock.after(CLOSE_TIMEOUT_MS, () => {
      for (const socket of this.#open.values()) socket.terminate();
    });
    await Promise.all(parted);
    cut.cancel();
  }

  #note(stream: StreamName, userId: string, by: number): void {
    const name = `${stream} ${userId}`;
    const count = (this.#counts.get(name) ?? 0) + by;
    if (count === 0) this.#counts.delete(name);
    else this.#counts.set(name, count);
  }
}
