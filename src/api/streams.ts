import { type Route, route } from '../http/route.ts';
import { admit, STREAM, STREAM_DESCRIPTION } from '../http/streamAdmission.ts';
import type { Clock } from '../runtime/clock.ts';
import { optional } from '../schema/api/fields.ts';
import { tickerType } from '../schema/api/parameters.ts';
import { listOf } from '../schema/api/types.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { formatTime } from '../schema/time.ts';
import type { SignalReaders } from '../signals/signals.ts';
import { BoardStream } from '../stream/boardStream.ts';
import type { StreamHub } from '../stream/streamHub.ts';

/** Board connections that every user may have, whatever the tier: several browser tabs. */
const BOARDS_MIN = 4;

interface StreamDependencies extends FollowedAssets {
  /** Null: this process has none to serve. */
  readonly streams: StreamHub | null;
  readonly signals: Pick<SignalReaders, 'board'>;
  readonly clock: Clock;
}

/** The live streams; their messages are described in docs/STREAMS.md. */
export function streamRoutes(parts: StreamDependencies): Route[] {
  const { streams, clock } = parts;
  const board = new BoardStream(() => parts.signals.board, clock);
  return [
    route({
      ...STREAM,
      path: '/v1/stream',
      access: { feature: 'stream' },
      summary: 'WebSocket: every book change of the subscribed markets, live',
      description: STREAM_DESCRIPTION,
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
      ...STREAM,
      path: '/v1/arb/ws',
      access: { feature: 'arb_ws' },
      summary: 'WebSocket: every logical and endgame opportunity when it is detected',
      description: STREAM_DESCRIPTION,
      query: { ticker: optional(listOf(tickerType(parts.tickers)), 'Only these underlyings; default: all') },
      handle: (request) => {
        const tickers = parts.tickers.filter((ticker) => request.query.ticker?.includes(ticker) ?? true);
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
      ...STREAM,
      auth: 'session',
      path: '/app/arb/board',
      access: { feature: 'market_data' },
      summary: 'WebSocket: the live opportunity board, sent in full after every change',
      description:
        '`{"type":"ready"}`, then `{"type":"board","as_of":..,"opportunities":[..]}` with the opportunities of `GET /app/arb/live` ' +
        'at any edge. Sent at most four times a second.',
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
