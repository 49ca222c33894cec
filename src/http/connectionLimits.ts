import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { isIP, type Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import type { Counter } from 'prom-client';
import { addressGroup } from '../accounts/limits/limitsAddress.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/metrics.ts';
import type { Transport } from './transport.ts';

const CONNECTIONS_MAX = 16_384;
/** For files and the sockets of feeds and engine: the recorder must never run out of descriptors. */
const RESERVED_DESCRIPTORS = 512;
/** If the system does not report a limit: the usual limit of macOS. */
const UNKNOWN_DESCRIPTORS = 10_240;
const CONNECTIONS_PER_ADDRESS = 512;
/** Time a refused client has to read the reason. */
export const REFUSED_MS = 5_000;
/** Refused connections that may read the reason at the same time. Others are cut, because each uses a descriptor. */
const REFUSED_MAX = 64;
const REFUSAL = JSON.stringify({ detail: 'Too many connections, retry later' });
const REFUSAL_TEXT = [
  'HTTP/1.1 503 Service Unavailable',
  'content-type: application/json',
  `content-length: ${REFUSAL.length}`,
  'x-content-type-options: nosniff',
  'cache-control: no-store',
  'retry-after: 5',
  'connection: close',
  '',
  REFUSAL,
].join('\r\n');

type Reason = 'address' | 'total';

interface Limits {
  readonly most: number;
  readonly perAddress: number;
}

/**
 * How many connections, including WebSockets, the process can serve and still leave the recorder enough descriptors.
 */
export function connectionLimits(descriptors = descriptorLimit()): Limits {
  const spare = Math.max(descriptors - RESERVED_DESCRIPTORS, Math.floor(descriptors / 2));
  return { most: Math.min(CONNECTIONS_MAX, spare), perAddress: CONNECTIONS_PER_ADDRESS };
}

/** The soft limit on open files. Node raises it to the hard limit at startup. */
function descriptorLimit(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return soft === undefined ? UNKNOWN_DESCRIPTORS : Number(soft);
  } catch {
    return UNKNOWN_DESCRIPTORS;
  }
}

/** Refuses connections beyond the limits before any byte of them is read. */
export function limitConnections(
  app: FastifyInstance,
  parts: { clock: Clock; metrics: Metrics; transport: Transport; limits?: Limits },
): void {
  const gate = new ConnectionGate(parts);
  const { server } = app as { server: Server };
  // Node handles a connection only after this decision: a refused one gets no parser and no TLS.
  const serve = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    if (!gate.admits(socket, { canRead: !(server instanceof TlsServer) })) return;
    for (const listener of serve) listener.call(server, socket);
  });
}

class ConnectionGate {
  readonly #open = new Set<Socket>();
  readonly #byAddress = new Map<string, number>();
  readonly #refused: Counter<'reason'>;
  readonly #clock: Clock;
  readonly #transport: Transport;
  readonly #limits: Limits;
  #refusing = 0;

  constructor({
    clock,
    metrics,
    transport,
    limits = connectionLimits(),
  }: {
    clock: Clock;
    metrics: Metrics;
    transport: Transport;
    limits?: Limits;
  }) {
    this.#clock = clock;
    this.#transport = transport;
    this.#limits = limits;
    metrics.gauge('underround_http_connections', 'Open connections of clients', [], (gauge) =>
      gauge.set(this.#open.size),
    );
    this.#refused = metrics.counter(
      'underround_http_connections_refused_total',
      'Connections refused because there were too many, in total or from one address',
      ['reason'],
    );
  }

  /** @param canRead Whether the client can read plain text; false before a TLS handshake. */
  admits(socket: Socket, { canRead }: { canRead: boolean }): boolean {
    // A connection that offered another protocol is passed to the server again.
    if (this.#open.has(socket)) return true;
    const { remoteAddress = '' } = socket;
    const counted = this.#isExempt(remoteAddress) ? null : addressGroup(remoteAddress);
    const reason = this.#whyRefused(counted);
    if (reason !== null) {
      this.#refused.inc({ reason });
      this.#refuse(socket, canRead);
      return false;
    }
    this.#open.add(socket);
    if (counted !== null) this.#byAddress.set(counted, this.#of(counted) + 1);
    socket.once('close', () => this.#closed(socket, counted));
    return true;
  }

  #whyRefused(counted: string | null): Reason | null {
    if (this.#open.size >= this.#limits.most) return 'total';
    return counted !== null && this.#of(counted) >= this.#limits.perAddress ? 'address' : null;
  }

  #of(counted: string): number {
    return this.#byAddress.get(counted) ?? 0;
  }

  #closed(socket: Socket, counted: string | null): void {
    this.#open.delete(socket);
    if (counted === null) return;
    const left = this.#of(counted) - 1;
    if (left > 0) this.#byAddress.set(counted, left);
    else this.#byAddress.delete(counted);
  }

  /** A proxy connects for many clients, and a local process has other ways to do harm. */
  #isExempt(address: string): boolean {
    return isLoopback(address) || this.#transport.trustProxy?.(address, 0) === true;
  }

  #refuse(socket: Socket, canRead: boolean): void {
    socket.on('error', () => socket.destroy());
    if (!canRead || this.#refusing >= REFUSED_MAX) return void socket.destroy();
    this.#refusing++;
    const limit = this.#clock.after(REFUSED_MS, () => socket.destroy());
    socket.once('close', () => {
      this.#refusing--;
      limit.cancel();
    });
    // Reads and discards the client's data: closing with unread bytes would also cut the response.
    socket.resume();
    socket.end(REFUSAL_TEXT);
  }
}

function isLoopback(address: string): boolean {
  const plain = address.replace(/^::ffff:/i, '');
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
}
