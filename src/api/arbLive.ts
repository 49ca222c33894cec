import { type Route, route } from '../http/route.ts';
import { optional, withDefault } from '../schema/api/fields.ts';
import { enumerationList, literalList } from '../schema/api/listTypes.ts';
import { liveBoardShape } from '../schema/api/signals.ts';
import { integer, number } from '../schema/api/types.ts';
import { EVENT_TYPES, type FollowedAssets } from '../schema/market.ts';
import { printJson } from '../schema/moneyJson.ts';
import { formatTime } from '../schema/time.ts';
import type { SignalReaders } from '../signals/signals.ts';

interface BoardDependencies extends FollowedAssets {
  readonly signals: Pick<SignalReaders, 'board'>;
}

export function arbLiveRoute(parts: BoardDependencies): Route {
  return route({
    method: 'GET',
    path: '/v1/arb/live',
    auth: 'key',
    access: { feature: 'market_data' },
    summary: 'Currently open opportunities, logical ones first',
    description:
      'Read from the detectors’ memory. The parameters filter and re-price the opportunities; `tier`, `detected_at` and ' +
      '`confidence` are the detectors’ values. The parameters never affect the audit log or pushed opportunities.',
    query: {
      min_edge_pp: withDefault(number({ ge: 0, le: 0.5 }), 0.04, 'Minimum edge in USDC per share'),
      vol_window_sec: withDefault(
        integer({ ge: 60, le: 3600 }),
        600,
        'Lookback of the volatility estimate in seconds; newer windows weigh more',
      ),
      tickers: optional(literalList(parts.tickers), 'Only these assets, separated by commas'),
      event_types: optional(
        enumerationList('event_types', EVENT_TYPES),
        'Only these windows, separated by commas',
      ),
      limit: withDefault(integer({ ge: 1, le: 200 }), 50, 'Maximum number of opportunities'),
    },
    response: liveBoardShape,
    handle: ({ query }) => {
      const tickers = query.tickers ?? parts.tickers;
      const eventTypes = query.event_types ?? EVENT_TYPES;
      const { asOfMs, opportunities } = parts.signals.board.read({
        ...{ tickers, eventTypes, minEdge: query.min_edge_pp, limit: query.limit },
        sigmaSeconds: query.vol_window_sec,
      });
      const body = {
        as_of: formatTime(asOfMs),
        count: opportunities.length,
        tickers,
        event_types: eventTypes,
        min_edge_pp: query.min_edge_pp,
        opportunities,
      };
      return { body: printJson(body) };
    },
  });
}
