import { optional } from '../../schema/api/fields.ts';
import { tickerType } from '../../schema/api/parameters.ts';
import { listOf } from '../../schema/api/types.ts';
import { TICKERS } from '../../schema/market.ts';
import { formatTime } from '../../schema/time.ts';
import { BoardStream } from '../../stream/boardStream.ts';
import type { Connection } from '../../stream/connection.ts';
import type { StreamName } from '../../stream/openConnections.ts';
import type { Streams } from '../../stream/streams.ts';
import type { ApiParts } from '../parts.ts';
import { tooManyRequests, underMaintenance } from '../refusal.ts';
import { type Answer, type RawRequest, type Route, route } from '../route.ts';

/** Tabs of one reader that may look at the board, whatever the tier. */
const BOARDS_MIN = 4;
/** Seconds after which a refused client may find a connection of its own ended. */
const RETRY_AFTER_S = 5;
const UPGRADE_REQUIRED: Answer = {
  status: 426,
  headers: { upgrade: 'websocket' },
  body: JSON.stringify({ detail: 'This endpoint speaks WebSocket' }),
};

/** The live streams; their messages are described in docs/STREAMS.md. */
export function streamRoutes(parts: Pick<ApiParts, 'streams' | 'clock' | 'signals'>): Route[] {
  const { streams, clock } = parts;
  const board = new BoardStream(() => parts.signals.board, clock);
  const socket = { method: 'GET', auth: 'key', socket: true, response: null, refusals: [426] } as const;
  return [
    route({
      ...socket,
      path: '/v1/stream',
      access: { feature: 'stream' },
      summary: 'WebSocket: every book change of the markets subscribed to, as it happens',
      description: DESCRIPTION,
      handle: (request) =>
        admit(request, 'market', {
          streams,
          begin: (connection, tier) => {
            const ready = { type: 'ready', tier, server_time: formatTime(clock.now()) };
            connection.answer(JSON.stringify(ready));
            streams?.markets.add(connection);
          },
        }),
    }),
    route({
      ...socket,
      path: '/v1/arb/ws',
      access: { feature: 'arb_ws' },
      summary: 'WebSocket: every logical and endgame opportunity, as it is detected',
      description: DESCRIPTION,
      query: { ticker: optional(listOf(tickerType), 'Only these underlyings; all when absent') },
      handle: (request) => {
        const tickers = TICKERS.filter((ticker) => request.query.ticker?.includes(ticker) ?? true);
        return admit(request, 'opportunity', {
          streams,
          begin: (connection, tier) => {
            connection.answer(JSON.stringify({ type: 'ready', tier, ticker_filter: tickers }));
            streams?.opportunities.add(connection, tickers);
          },
        });
      },
    }),
    route({
      ...socket,
      auth: 'session',
      path: '/app/arb/board',
      access: { feature: 'market_data' },
      summary: 'WebSocket: the live board, whole whenever anything of it changes',
      description:
        '`{"type":"ready"}`, then `{"type":"board","as_of":..,"opportunities":[..]}` with the rows of `GET /app/arb/live` ' +
        'of any edge, at most four times a second.',
      handle: (request) =>
        admit(request, 'board', {
          streams,
          most: Math.max(BOARDS_MIN, request.limits.stream_connections),
          begin: (connection, tier) => {
            connection.answer(JSON.stringify({ type: 'ready', tier }));
            board.add(connection);
          },
        }),
    }),
  ];
}

const DESCRIPTION =
  'Messages are described in docs/STREAMS.md. Browsers, which can send no header here, give the key as `api_key`; it is never logged. Connections of one user beyond the tier’s number are refused with 429.';

/**
 * Takes a client in once its handshake is through.
 * @throws {RequestRefusedError} 429 when its user has as many connections as the tier permits; 503 while stopping.
 */
function admit(
  { identity, limits }: Pick<RawRequest, 'identity' | 'limits'>,
  stream: StreamName,
  {
    streams,
    most = limits.stream_connections,
    begin,
  }: { streams: Streams | null; most?: number; begin: (connection: Connection, tier: string) => void },
): Answer {
  if (streams === null || identity === null)
    throw underMaintenance(RETRY_AFTER_S, 'No streams are served here');
  const { connections } = streams;
  if (connections.isClosing) throw underMaintenance(RETRY_AFTER_S, 'The service is stopping');
  const { tier } = identity;
  if (connections.count(stream, identity) >= most) {
    throw tooManyRequests(`Tier ${tier} permits ${most} connections to this stream at once`, RETRY_AFTER_S);
  }
  const serve = (connection: Connection) => begin(connection, tier);
  return {
    ...UPGRADE_REQUIRED,
    upgrade: (upgraded) => connections.open(upgraded, { stream, identity, serve }),
  };
}
