import { Readable } from 'node:stream';
import { decidingSource } from '../core/venueRules.ts';
import { knownMarket, type MarketLookup } from '../http/marketLookup.ts';
import { invalid } from '../http/refusal.ts';
import { type Route, route, streamedHead } from '../http/route.ts';
import { checkRange } from '../http/rows.ts';
import type { Clock } from '../runtime/clock.ts';
import { framed } from '../runtime/hashedFrames.ts';
import { missing, type Values } from '../schema/api/fields.ts';
import { tapeFields, tapeMarketFields } from '../schema/api/tapes.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { SEQS_PER_MILLISECOND } from '../schema/records.ts';
import { storedTime } from '../store/queries/sql.ts';
import { TAPE_STATEMENTS } from '../store/queries/tapes.ts';
import { loadTapeGaps, loadUniverse, recordingName } from '../store/queries/universe.ts';
import { untilStored } from '../store/untilStored.ts';

/**
 * A record received by now may get its arrival number this much later: processes of a cluster receive it over the
 * record stream.
 */
const LATEST_MS = 1_000;

interface TapeDependencies extends MarketLookup, FollowedAssets {
  readonly clock: Clock;
  /** As for `untilStored`; absent where nothing records. */
  readonly stored?: () => Promise<void>;
}

/** The recording as `underround backtest` and `underround paper run` read it from another machine. */
export function tapeRoutes(parts: TapeDependencies): Route[] {
  return [tapeMarketsRoute(parts), tapesRoute(parts)];
}

function tapeMarketsRoute({ store, clock, tickers, stored }: TapeDependencies): Route {
  return route({
    method: 'GET',
    path: '/v1/tapes/markets',
    auth: 'key',
    access: { feature: 'export' },
    summary: 'Markets of a series with the gaps of their books, for a replay',
    description:
      'JSON lines. The first has `stored_seq`: every record with this arrival number or a lower one is stored. Each other line has a `market` as recorded, its `gaps` with the times and arrival numbers at which they became known, and the `source` of the prices that decide it.',
    query: tapeMarketFields(tickers),
    response: null,
    produces: 'application/x-ndjson',
    handle: async ({ query, history, signal, headOnly }) => {
      const { ticker, event_type, start, end, limit } = query;
      checkRange(start, end);
      const startMs = history.range({ startMs: start, endMs: end });
      const contentType = 'application/x-ndjson';
      if (headOnly) return { contentType, body: streamedHead() };
      const storedSeq = Math.max(0, (clock.now() - LATEST_MS) * SEQS_PER_MILLISECOND);
      if (stored) await untilStored(stored, { signal, clock });
      const universe = { ticker, event_type };
      const range = { universe, startMs, endMs: end ?? Number.MAX_SAFE_INTEGER, limit };
      const [recording, markets] = await Promise.all([recordingName(store), loadUniverse(store, range)]);
      // Gaps are read last, so that each row is read with at least the gaps known when it was received.
      const gaps = await loadTapeGaps(
        store,
        markets.map(({ marketId }) => marketId),
      );
      const lines = [
        { stored_seq: storedSeq, recording },
        ...markets.map((market) => ({
          market,
          gaps: gaps.get(market.marketId) ?? [],
          source: decidingSource(market),
        })),
      ];
      return {
        contentType,
        body: lines.map((line) => `${JSON.stringify(line)}\n`).join(''),
      };
    },
  });
}

function tapesRoute(parts: TapeDependencies): Route {
  return route({
    method: 'GET',
    path: '/v1/tapes',
    auth: 'key',
    access: { feature: 'export' },
    summary: 'Records of a market or an asset in the order of arrival, for a replay',
    description:
      'Binary rows as the store has them, in frames with their SHA-256: a cut or damaged answer is detected. The format may change with a release; `GET /v1/export` has a stable one. `quotes`, `books` and `trades` need `market_id`; `prices` and `perp_depth` need `ticker`.',
    query: tapeFields(parts.tickers),
    response: null,
    produces: 'application/octet-stream',
    handle: async ({ query, history, signal, headOnly }) => {
      const subject = subjectOf(query);
      checkRange(query.start, query.end);
      history.check(query.start, 'start');
      if ('market_id' in subject) await knownMarket(parts, subject.market_id, signal);
      const { dataset, start, end, after_seq, to_seq, depth } = query;
      const { query: statement, format } = TAPE_STATEMENTS[dataset];
      const range = { from_ms: storedTime(start), to_ms: storedTime(end), after_seq, to_seq };
      const params = { ...subject, ...range, ...(dataset === 'books' ? { depth } : {}) };
      const contentType = 'application/octet-stream';
      if (headOnly) return { contentType, body: streamedHead() };
      const rows = await parts.store.stream(statement, params, { format, signal });
      return { contentType, body: Readable.from(framed(rows), { objectMode: false }) };
    },
  });
}

/** @throws {RequestRefusedError} 422 if the market or the asset is missing. */
function subjectOf({
  dataset,
  market_id,
  ticker,
  source,
  venue,
}: Values<ReturnType<typeof tapeFields>>): { market_id: string } | { ticker: string } {
  if (dataset === 'prices' || dataset === 'perp_depth') {
    if (ticker === null) throw invalid([missing('query', 'ticker')]);
    return dataset === 'prices' ? { ticker, ...{ source } } : { ticker, ...{ venue } };
  }
  if (market_id === null) throw invalid([missing('query', 'market_id')]);
  return { market_id };
}
