import type { Connection } from '../stream/connection.ts';
import type { StreamName } from '../stream/connectionRegistry.ts';
import type { StreamHub } from '../stream/streamHub.ts';
import { numbered, retryIn, underMaintenance } from './refusal.ts';
import type { Answer, RawRequest } from './route.ts';

/** Declaration that all streams share. */
export const STREAM = { method: 'GET', auth: 'key', socket: true, response: null, refusals: [426] } as const;
export const STREAM_DESCRIPTION =
  'docs/STREAMS.md describes the messages. Browsers cannot send headers with a WebSocket, so they pass the key as `api_key`, which is never logged. Connections of one user beyond the tier’s limit get 429.';

/** Seconds after which another process, or this one, may serve streams. */
const RETRY_AFTER_S = 5;
/**
 * Seconds after which a refused client may find that one of its connections has ended. One whose network was lost is
 * closed after 75 s without an answer; the published clients try ten times.
 */
const OCCUPIED_RETRY_AFTER_S = 10;
const UPGRADE_REQUIRED: Answer = {
  status: 426,
  headers: { upgrade: 'websocket' },
  body: JSON.stringify({ detail: 'This endpoint speaks WebSocket' }),
};

/**
 * Admits a client and opens its connection after the handshake.
 * @throws {RequestRefusedError} 429 if its user has as many connections as the tier permits; 503 while stopping.
 */
export function admit(
  { identity, limits }: Pick<RawRequest, 'identity' | 'limits'>,
  stream: StreamName,
  {
    streams,
    most = limits.stream_connections,
    begin,
  }: { streams: StreamHub | null; most?: number; begin: (connection: Connection, tier: string) => void },
): Answer {
  if (streams === null || identity === null)
    throw underMaintenance(RETRY_AFTER_S, 'This process serves no streams');
  const { connections } = streams;
  if (connections.isClosing) throw underMaintenance(RETRY_AFTER_S, 'The service is stopping');
  const { tier } = identity;
  if (connections.count(stream, identity) >= most) {
    const connected = numbered(most, 'connection');
    throw retryIn(OCCUPIED_RETRY_AFTER_S, `Tier ${tier} permits ${connected} to this stream at once`);
  }
  const serve = (connection: Connection) => begin(connection, tier);
  return {
    ...UPGRADE_REQUIRED,
    upgrade: (upgraded) => connections.open(upgraded, { stream, identity, serve }),
  };
}
