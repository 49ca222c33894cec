import type { ApiParts } from '../http/parts.ts';
import { type Route, route } from '../http/route.ts';
import { checkRange } from '../http/rows.ts';
import { admit, STREAM, STREAM_DESCRIPTION } from '../http/streamAdmission.ts';
import { datetime } from '../schema/api/datetime.ts';
import { optional, withDefault } from '../schema/api/fields.ts';
import * as parameter from '../schema/api/parameters.ts';
import { number } from '../schema/api/types.ts';
import { formatTime } from '../schema/time.ts';
import { Replay } from '../stream/replay.ts';

/** Replays recorded market streams; docs/STREAMS.md describes the messages. */
export function replayRoute(parts: Pick<ApiParts, 'streams' | 'clock' | 'store' | 'log'>): Route {
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
      speed: withDefault(
        number({ ge: 0, le: 1000 }),
        1,
        'Recorded seconds per second; 0: as fast as the client reads',
      ),
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
