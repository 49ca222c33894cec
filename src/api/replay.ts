import { type Route, route } from '../http/route.ts';
import { checkRange } from '../http/rows.ts';
import { admit, STREAM, STREAM_DESCRIPTION } from '../http/streamAdmission.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import { datetime } from '../schema/api/datetime.ts';
import { optional } from '../schema/api/fields.ts';
import * as parameter from '../schema/api/parameters.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { formatTime } from '../schema/time.ts';
import type { StoreReader } from '../store/reader.ts';
import { Replay } from '../stream/replay.ts';
import type { StreamHub } from '../stream/streamHub.ts';

interface ReplayDependencies extends FollowedAssets {
  readonly store: StoreReader;
  /** Null: this process has none to serve. */
  readonly streams: StreamHub | null;
  readonly clock: Clock;
  readonly log: Logger;
}

/** The recorded stream; its messages are described in docs/STREAMS.md. */
export function replayRoute(parts: ReplayDependencies): Route {
  const { streams, clock } = parts;
  return route({
    ...STREAM,
    path: '/v1/replay',
    access: { feature: 'replay' },
    summary: 'WebSocket: replay recorded book changes like a live stream, at any speed',
    description: STREAM_DESCRIPTION,
    query: {
      start: parameter.start,
      end: optional(datetime, 'End of the range, exclusive; default: now'),
      speed: parameter.replaySpeed,
    },
    handle: (request) => {
      const { start, end, speed } = request.query;
      checkRange(start, end);
      const fromMs = request.history.range({ startMs: start, endMs: end });
      const terms = { fromMs, toMs: end ?? clock.now(), speed };
      return admit(request, 'replay', {
        streams,
        begin: (connection, tier) => {
          const ready = { type: 'ready', tier, server_time: formatTime(clock.now()) };
          connection.answer(JSON.stringify(ready));
          new Replay(connection, terms, parts);
        },
      });
    },
  });
}
