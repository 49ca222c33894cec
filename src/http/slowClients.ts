import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { type Clock, every, type Timer } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { type Unacknowledged, unacknowledgedBytes } from './unacknowledged.ts';

/** Up to this much may wait for a client without time limit. */
const WAITING_BYTES_MAX = 64 * 1024;
/** If more waits, the client must read at least this much within a window, or it is cut off. */
const TAKEN_BYTES_MIN = 64 * 1024;
export const WINDOW_MS = 10_000;
const SWEEP_MS = 1_000;

/** A connection whose reading speed is measured. */
export interface PacedClient {
  /**
   * Response bytes that the kernel has not accepted yet. Infinite while a response is paused for lack of buffer space.
   */
  waitingBytes(): number;
  /** Response bytes that the kernel has accepted since the connection began. */
  acceptedBytes(): number;
  /** @param takenBytes Bytes the client read in the last window. */
  cut(takenBytes: number): void;
}

interface Window {
  readonly sinceMs: number;
  /** Bytes the client had read so far. */
  readonly takenBytes: number;
  /** Whether unacknowledged bytes are subtracted; otherwise these are all bytes that the kernel accepted. */
  readonly isAcknowledged: boolean;
}

/** Cuts off clients that read less than 64 KiB in 10 s while more than 64 KiB wait for them. */
export class SlowClients<C extends PacedClient> {
  readonly #clock: Clock;
  readonly #unacknowledged: Unacknowledged<C>;
  readonly #clients = new Map<C, Window | null>();
  #timer: Timer | null = null;
  #isSweeping = false;

  /** @param unacknowledged Bytes accepted by the kernel that the peer has not acknowledged. */
  constructor(clock: Clock, unacknowledged: Unacknowledged<C>) {
    this.#clock = clock;
    this.#unacknowledged = unacknowledged;
  }

  add(client: C): void {
    this.#clients.set(client, null);
    this.#timer ??= every(this.#clock, SWEEP_MS, () => void this.#sweep());
  }

  delete(client: C): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
  }

  /** Queries the kernel only for clients whose window begins or ends. */
  async #sweep(): Promise<void> {
    if (this.#isSweeping) return;
    const nowMs = this.#clock.monotonic();
    const due: C[] = [];
    for (const [client, window] of this.#clients) {
      if (client.waitingBytes() <= WAITING_BYTES_MAX) {
        if (window) this.#clients.set(client, null);
      } else if (window === null || nowMs - window.sinceMs >= WINDOW_MS) due.push(client);
    }
    if (due.length === 0) return;
    this.#isSweeping = true;
    const unacknowledged = await this.#unacknowledged(due);
    this.#isSweeping = false;
    for (const client of due) this.#judge(client, unacknowledged.get(client) ?? null);
  }

  /**
   * The kernel's table changes while it is read and may miss a connection. So bytes read are counted only between two
   * measurements that both have the unacknowledged bytes, or both lack them.
   */
  #judge(client: C, unacknowledgedBytes: number | null): void {
    const window = this.#clients.get(client);
    // The client disconnected, or read everything, while the kernel was queried.
    if (window === undefined || client.waitingBytes() <= WAITING_BYTES_MAX) return;
    // The next sweep tries again.
    const isAcknowledged = unacknowledgedBytes !== null;
    if (window?.isAcknowledged && !isAcknowledged) return;
    const takenBytes = client.acceptedBytes() - (unacknowledgedBytes ?? 0);
    const taken = takenBytes - (window?.takenBytes ?? 0);
    if (window?.isAcknowledged !== isAcknowledged || taken >= TAKEN_BYTES_MIN) {
      this.#clients.set(client, { sinceMs: this.#clock.monotonic(), takenBytes, isAcknowledged });
      return;
    }
    this.delete(client);
    client.cut(taken);
  }
}

/** Node's internal counters of bytes passed to the kernel; Node's own idle timer reads the second one. */
interface CountedSocket {
  readonly _bytesDispatched?: number;
  readonly _handle?: { readonly writeQueueSize?: number } | null;
}

class HttpConnection implements PacedClient {
  readonly socket: Socket;
  /** The newest response on this connection. */
  response: ServerResponse | null = null;
  /** Earlier responses that are not complete: a client may send further requests before it reads the first answer. */
  readonly #unsent = new Set<ServerResponse>();
  readonly #cut: (connection: HttpConnection, takenBytes: number) => void;

  constructor(socket: Socket, cut: (connection: HttpConnection, takenBytes: number) => void) {
    this.socket = socket;
    this.#cut = cut;
  }

  begins(response: ServerResponse): void {
    const { response: earlier } = this;
    this.response = response;
    // Nearly always complete by now.
    if (earlier === null || earlier.closed) return;
    this.#unsent.add(earlier);
    earlier.once('close', () => this.#unsent.delete(earlier));
  }

  waitingBytes(): number {
    const { socket, response } = this;
    if (socket.writableLength === 0) return 0;
    if (isPaused(response)) return Number.POSITIVE_INFINITY;
    for (const earlier of this.#unsent) if (isPaused(earlier)) return Number.POSITIVE_INFINITY;
    const queued = Math.max(0, (response?.writableLength ?? 0) - socket.writableLength);
    return queued + socket.bytesWritten - this.acceptedBytes();
  }

  acceptedBytes(): number {
    const { socket } = this;
    const { _bytesDispatched: dispatched, _handle: handle } = socket as unknown as CountedSocket;
    // A large body is one write, of which the kernel may have accepted a part.
    if (dispatched !== undefined) return dispatched - (handle?.writeQueueSize ?? 0);
    return socket.bytesWritten - socket.writableLength;
  }

  cut(takenBytes: number): void {
    this.#cut(this, takenBytes);
  }
}

/** Whether a response waits for buffer space before its next part. */
function isPaused(response: ServerResponse | null): boolean {
  return response?.writableNeedDrain === true && !response.writableEnded;
}

/** Watches every connection of the service except WebSockets, which have a separate limit. */
export function cutSlowClients(
  app: FastifyInstance,
  { clock, log, metrics }: { clock: Clock; log: Logger; metrics: Metrics },
): void {
  const count = metrics.counter(
    'underround_http_slow_clients_total',
    'Connections closed because their client did not read its response',
  );
  const connections = new Map<Socket, HttpConnection>();
  const clients = new SlowClients<HttpConnection>(clock, (due) =>
    unacknowledgedBytes(due, ({ socket }) => socket),
  );
  const cut = ({ socket, response }: HttpConnection, takenBytes: number) => {
    count.inc();
    const requestId = response?.getHeader('x-request-id') ?? null;
    log.info({ request_id: requestId, taken_bytes: takenBytes, window_ms: WINDOW_MS }, 'http.slow_client');
    socket.destroy();
  };
  const forget = (socket: Socket) => {
    const connection = connections.get(socket);
    if (!connection) return;
    connections.delete(socket);
    clients.delete(connection);
  };
  // Requests refer to the encrypted socket.
  app.server.on(app.server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    const connection = new HttpConnection(socket, cut);
    connections.set(socket, connection);
    clients.add(connection);
    socket.once('close', () => forget(socket));
  });
  app.server.on('request', (request, response) => {
    connections.get(request.socket)?.begins(response);
  });
  app.server.on('upgrade', (request) => forget(request.socket));
}
