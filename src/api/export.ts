import { Readable } from 'node:stream';
import { knownMarket, type MarketLookup } from '../http/marketLookup.ts';
import { badRequest, invalid } from '../http/refusal.ts';
import { type Route, route } from '../http/route.ts';
import { checkRange } from '../http/rows.ts';
import { exportFields, exportSubject } from '../schema/api/exports.ts';
import { type ExportFormat, PARQUET_ROWS_TEXT } from '../schema/export.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { openExport, whyTooLong } from '../store/export.ts';

const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
};

export function exportRoute(parts: MarketLookup & FollowedAssets): Route {
  return route({
    method: 'GET',
    path: '/v1/export',
    auth: 'key',
    access: { feature: 'export' },
    summary: 'Export a recording as a file: one row per record, oldest first, complete',
    description: `The body is streamed, so a range may have any length. A Parquet file is built completely before it is sent, and has at most ${PARQUET_ROWS_TEXT} rows. \`snapshots\`, \`quotes\` and \`trades\` need \`market_id\`; \`underlying\` and \`perp_depth\` need \`ticker\`.`,
    query: exportFields(parts.tickers),
    response: null,
    produces: Object.values(MEDIA_TYPES),
    handle: async ({ query, history, signal, headOnly }) => {
      const { dataset, start, end, format } = query;
      const subject = exportSubject(query);
      if (!('dataset' in subject)) throw invalid([subject]);
      checkRange(start, end);
      const range = { startMs: history.range({ startMs: start, endMs: end }), endMs: end };
      if ('marketId' in subject) await knownMarket(parts, subject.marketId, signal);
      const asked = { ...range, format, signal };
      const tooLong = await whyTooLong(parts.store, subject, asked);
      if (tooLong !== null) throw badRequest(tooLong);
      const body = headOnly ? Readable.from([]) : await openExport(parts.store, subject, asked);
      const headers = { 'content-disposition': `attachment; filename="${dataset}.${format}"` };
      return { headers, contentType: MEDIA_TYPES[format], body };
    },
  });
}
