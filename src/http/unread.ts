import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { RateLimits, RateVerdict } from '../accounts/limits/limits.ts';
import type { Logger } from '../runtime/log.ts';
import type { DataSource, RequestIds } from './lifecycle.ts';
import { badRequest } from './refusal.ts';
import type { RequestCheck } from './requestChecks.ts';
import type { Transport } from './transport.ts';

const HOST = 'host';

interface Refusing {
  readonly nextId: RequestIds;
  readonly dataSource: DataSource;
  readonly log: Pick<Logger, 'info'>;
  readonly transport: Pick<Transport, 'trustProxy'>;
  readonly rateLimits: RateLimits | null;
}

/** Refuses an unknown `Expect` header with a JSON body. Node's server would refuse it without one. */
export function refuseUnread(app: FastifyInstance, refusing: Refusing): void {
  app.server.on('checkExpectation', (request: IncomingMessage, response) => {
    refuse(417, request, refusing, ({ status, headers, body }) => {
      response.writeHead(status, headers).end(body);
    });
  });
}

/**
 * Refuses a missing or repeated Host header with a JSON body. Node's server would refuse a missing one without a body, so
 * the server must be created with `requireHostHeader` off.
 */
export const requireHost: RequestCheck = ({ raw }) => {
  const hosts = hostHeaders(raw.rawHeaders);
  if (hosts > 1) throw badRequest('Host header is repeated');
  if (hosts === 0 && raw.httpVersion === '1.1') throw badRequest('Host header is missing');
};

/** Node keeps the first header and drops the rest, but a proxy in front may have checked another (RFC 9112, 3.2). */
function hostHeaders(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    if (name.length === HOST.length && name.toLowerCase() === HOST) count++;
  }
  return count;
}

/** For data that is not HTTP: the connection cannot be used again. */
export function refuseConnection(refusing: Refusing): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    refuse(statusOf(error), { headers: {}, socket }, refusing, ({ status, headers, body }) => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
      socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
    });
  };
}

function statusOf({ code }: NodeJS.ErrnoException): number {
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? 408 : 400;
}

type UnreadRequest = Pick<IncomingMessage, 'headers' | 'socket'>;
interface Refusal {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Counts the refusal, then sends it. */
function refuse(
  proper: number,
  request: UnreadRequest,
  refusing: Refusing,
  send: (refusal: Refusal) => void,
): void {
  const counted = countRefusal(request.socket, refusing);
  const refuseWith = (verdict: RateVerdict | null) => send(refusalOf(proper, request, verdict, refusing));
  if (counted instanceof Promise) void counted.then(refuseWith);
  else refuseWith(counted);
}

/** Adds the headers of every response and logs the request, because no hook runs for it. */
function refusalOf(
  proper: number,
  request: UnreadRequest,
  verdict: RateVerdict | null,
  { nextId, dataSource, log }: Refusing,
): Refusal {
  const id = nextId(request);
  const waitSeconds = verdict?.retryAfterSeconds ?? 0;
  const status = waitSeconds > 0 ? 429 : proper;
  log.info({ request_id: id, status }, 'http.unread_refused');
  const body = JSON.stringify({ detail: STATUS_CODES[status] });
  return {
    status,
    body,
    headers: {
      'content-type': 'application/json',
      'content-length': String(body.length),
      connection: 'close',
      'x-request-id': id,
      'x-content-type-options': 'nosniff',
      ...(verdict === null ? {} : { 'ratelimit-policy': verdict.policy, ratelimit: verdict.limit }),
      ...(waitSeconds > 0 ? { 'retry-after': String(waitSeconds) } : {}),
      ...(dataSource === 'live' ? {} : { 'x-data-source': dataSource }),
    },
  };
}

/**
 * Counts like any refusal without a known user. A proxy's own address does not identify the client, so it never counts.
 */
function countRefusal(
  { remoteAddress }: Socket,
  { transport, rateLimits }: Refusing,
): RateVerdict | null | Promise<RateVerdict> {
  if (!rateLimits || remoteAddress === undefined || transport.trustProxy?.(remoteAddress, 0)) return null;
  return rateLimits.failure(remoteAddress);
}
