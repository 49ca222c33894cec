import { Readable } from 'node:stream';
import { knownMarket, type MarketLookup } from '../http/marketLookup.ts';
import { invalid } from '../http/refusal.ts';
import { type ApiRequest, type Route, route } from '../http/route.ts';
import { checkRange } from '../http/rows.ts';
import { exportManifestShape } from '../schema/api/exportManifest.ts';
import { exportFields, exportSubject } from '../schema/api/exports.ts';
import type { ExportFormat, ExportRange, ExportSubject } from '../schema/export.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { exportFileName } from '../store/export/fileName.ts';
import { buildManifest } from '../store/export/manifest.ts';
import { openExport } from '../store/export/openExport.ts';
import { exportSources } from '../store/queries/exports.ts';

const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
};
const SUBJECTS =
  '`underlying` and `perp_depth` need `ticker`. The others need `market_id`, or `ticker` and `event_type` for all markets of a series; `markets` and `gaps` need neither.';

type Parts = MarketLookup & FollowedAssets;
type Request = ApiRequest<ReturnType<typeof exportFields>, Record<never, never>>;

interface Asked {
  readonly subject: ExportSubject;
  readonly range: ExportRange;
  readonly format: ExportFormat;
}

export function exportRoute(parts: Parts): Route {
  return route({
    method: 'GET',
    path: '/v1/export',
    auth: 'key',
    access: { feature: 'export' },
    summary: 'Export a recording as a file: one row per record, oldest first, complete',
    description: `The body is streamed, so a range may have any length; an error cuts the connection. ${SUBJECTS} Rows of several markets follow one another by the starts of their windows. \`GET /v1/export/manifest\` with the same parameters describes the rows.`,
    query: exportFields(parts.tickers),
    response: null,
    produces: Object.values(MEDIA_TYPES),
    handle: async (request) => {
      const { store } = parts;
      const { signal } = request;
      const { subject, range, format } = await readAsked(parts, request);
      const name = await exportFileName(store, subject, { format, range, signal });
      const sources = await exportSources(store, subject, { range, signal });
      const { dataset } = subject;
      const body = request.headOnly
        ? Readable.from([])
        : openExport(store, sources, { dataset, format, signal });
      const headers = { 'content-disposition': `attachment; filename="${name}"` };
      return { headers, contentType: MEDIA_TYPES[format], body };
    },
  });
}

export function exportManifestRoute(parts: Parts): Route {
  return route({
    method: 'GET',
    path: '/v1/export/manifest',
    auth: 'key',
    access: { feature: 'export' },
    summary: 'Describe an export: columns, number and hash of its rows, gaps',
    description: `The parameters are those of \`GET /v1/export\`. \`data_sha256\` is the same for all formats. \`underround verify\` checks a file with the manifest beside it, named like the file with \`.manifest.json\` at the end. ${SUBJECTS}`,
    query: exportFields(parts.tickers),
    response: exportManifestShape,
    handle: async (request) => {
      const { store } = parts;
      const { signal } = request;
      const asked = await readAsked(parts, request);
      const { subject, range, format } = asked;
      const name = await exportFileName(store, subject, { format, range, signal });
      const sources = await exportSources(store, subject, { range, signal });
      const manifest = await buildManifest(store, sources, {
        ...asked,
        file: { name, bytes: null, sha256: null },
        signal,
      });
      return { body: JSON.stringify(manifest) };
    },
  });
}

/** @throws {RequestRefusedError} 422, 400, 403 or 404 for an export that is not possible. */
async function readAsked(parts: Parts, { query, history, signal }: Request): Promise<Asked> {
  const { start, end, format } = query;
  const subject = exportSubject(query);
  if (!('dataset' in subject)) throw invalid([subject]);
  checkRange(start, end);
  const range = { startMs: history.range({ startMs: start, endMs: end }), endMs: end };
  if ('markets' in subject && subject.markets !== 'all' && 'marketIds' in subject.markets) {
    for (const marketId of subject.markets.marketIds) await knownMarket(parts, marketId, signal);
  }
  return { subject, range, format };
}
