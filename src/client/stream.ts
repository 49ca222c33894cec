import { ApiError, NoAnswerError, StreamError, type UnderroundError } from './errors.ts';
import { pauseMs, type Requests } from './requests.ts';
import type { Subscription } from './streamMessages.ts';
import { type Socket, StreamSocket } from './streamSocket.ts';

export interface StreamOptions {
  /**
   * Opens a WebSocket. Default: the global one, with the key in a header under Node and in `api_key` in browsers, which
   * cannot send headers.
   */
  readonly webSocket?: (url: string, key: string) => Socket;
  /** Failed connections in a row after which a stream gives up (default 10). */
  readonly connectionsMax?: number;
}

interface Place {
  readonly path: string;
  readonly query: object;
  /** Null: the stream has no subscriptions and no cursors. */
  readonly subscription: Subscription | null;
  readonly cursor: string | null;
  readonly signal?: AbortSignal | undefined;
}

/** Close codes after which the same would happen again. */
const FINAL = new Set([1000, 1003, 1007, 1008, 1009]);
/** The service's reason for closing with 1008 a client that was asleep or busy: the stream continues. */
const SILENT = 'two pings without an answer';
const UPGRADE_REQUIRED = 426;
/** Programs whose WebSocket accepts headers. A `process` would prove nothing: bundles for browsers have one too. */
const SENDS_HEADERS = /^(?:Node\.js|Bun)\//;

/**
 * The messages of a stream. A lost connection is opened again, and continues after the last snapshot that the caller
 * has handled.
 * @throws {ApiError} If the service refuses the stream.
 * @throws {StreamError} If it refuses the subscription, or ends the stream for good.
 * @throws {NoAnswerError} After `connectionsMax` failed connections in a row.
 */
export async function* messages<M extends { readonly type: string }>(
  requests: Requests,
  { webSocket = openSocket, connectionsMax = 10 }: StreamOptions,
  { path, query, subscription, cursor, signal }: Place,
): AsyncGenerator<M, void> {
  let after = cursor;
  for (let failures = 1; ; failures++) {
    signal?.throwIfAborted();
    const address = requests.address(path, { query }).replace(/^http/, 'ws');
    const socket = new StreamSocket(webSocket(address, requests.key), requests.clock, signal);
    let isReady = false;
    try {
      for await (const text of socket.texts()) {
        signal?.throwIfAborted();
        const message = JSON.parse(text) as M & { cursor?: string; detail?: string };
        const { type } = message;
        if (type === 'ping') continue;
        if (type === 'ready') {
          isReady = true;
          failures = 0;
          if (subscription) socket.send(subscribe(subscription, after));
          continue;
        }
        if (type === 'error') throw new StreamError(String(message.detail), null);
        yield message;
        // Only now: the caller has handled it.
        if (type === 'snapshot') after = message.cursor ?? after;
        if (type === 'end') return;
      }
    } finally {
      socket.close();
    }
    signal?.throwIfAborted();
    const { code, reason } = socket.closing;
    if (FINAL.has(code) && reason !== SILENT)
      throw new StreamError(`the service closed the stream: ${reason || code}`, code);
    const cause = isReady ? null : await refusalOf(requests, { path, query, signal });
    if (failures >= connectionsMax) {
      const why = cause?.message ?? (reason || `close code ${code}`);
      throw new NoAnswerError(`${failures} connections to ${requests.url} failed in a row: ${why}`, {
        cause,
      });
    }
    const askedMs = cause instanceof ApiError ? cause.retryAfterMs : null;
    await requests.clock.sleep(askedMs ?? pauseMs(failures + 1, requests.random), signal);
  }
}

function subscribe(subscription: Subscription, after: string | null): string {
  const resume = after === null ? {} : { resume: after };
  return JSON.stringify({ type: 'subscribe', ...subscription, ...resume });
}

/**
 * Repeats a refused handshake as a plain request, because browsers hide why a handshake was refused.
 * @returns Why the connection failed, if the request fails too; another handshake may succeed.
 * @throws {ApiError} If another handshake would be refused too.
 */
async function refusalOf(
  requests: Requests,
  { path, query, signal }: Pick<Place, 'path' | 'query' | 'signal'>,
): Promise<UnderroundError | null> {
  try {
    await requests.read(requests.address(path, { query }), signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof NoAnswerError) return error;
    if (!(error instanceof ApiError) || error.status === UPGRADE_REQUIRED) return null;
    if (error.code !== 'rate_limited' && error.code !== 'unavailable') throw error;
    return error;
  }
  return null;
}

function openSocket(url: string, key: string): Socket {
  if (!SENDS_HEADERS.test(globalThis.navigator?.userAgent ?? ''))
    return new WebSocket(`${url}${url.includes('?') ? '&' : '?'}api_key=${encodeURIComponent(key)}`);
  const init = { headers: { authorization: `Bearer ${key}` } };
  return new WebSocket(url, init as unknown as string[]);
}
