import { missingResult } from '../backtest/jobExport.ts';
import type { JobRepository } from '../backtest/jobs.ts';
import { knownMarket, type MarketLookup } from '../http/marketLookup.ts';
import { conflict, invalid, notFound } from '../http/refusal.ts';
import { type ApiRequest, type Route, route, streamedHead } from '../http/route.ts';
import { checkRange } from '../http/rows.ts';
import { exportManifestShape } from '../schema/api/exportManifest.ts';
import { exportFields, exportSubject } from '../schema/api/exports.ts';
import type { ExportFormat, ExportRange, ExportSubject, JobDataset } from '../schema/export.ts';
import type { FollowedAssets } from '../schema/market.ts';
import type { AuditReader } from '../signals/auditReader.ts';
import { openSources } from '../store/export/controlRows.ts';
import { exportFileName } from '../store/export/fileName.ts';
import { buildManifest, hashRows } from '../store/export/manifest.ts';
import { openExport } from '../store/export/openExport.ts';
import { exportReader } from './exportReader.ts';

const MEDIA_TYPES: Readonly<Record<ExportFormat, string>> = {
  jsonl: 'application/x-ndjson',
  csv: 'text/csv',
  parquet: 'application/vnd.apache.parquet',
};
const SUBJECTS =
  '`underlying` and `perp_depth` need `ticker`, `job_trades` and `job_cells` need `job_id`. The others need `market_id`, or `ticker` and `event_type` for all markets of a series; `markets`, `gaps` and `signals` need neither.';

type Parts = MarketLookup &
  FollowedAssets & {
    readonly signals: { readonly audit: Pick<AuditReader, 'oldest'> };
    readonly backtests: { readonly jobs: Pick<JobRepository, 'find' | 'result'> };
  };
type Request = ApiRequest<ReturnType<typeof exportFields>, Record<never, never>>;

interface Asked {
  readonly subject: ExportSubject;
  readonly range: ExportRange;
  readonly format: ExportFormat;
}

const readerOf = ({ store, signals, backtests }: Parts) =>
  exportReader({ store, audit: signals.audit, jobs: backtests.jobs });

export function exportRoute(parts: Parts): Route {
  return route({
    method: 'GET',
    path: '/v1/export',
    auth: 'key',
    access: { feature: 'export' },
    summary: 'Export a recording as a file: one row per record, oldest first, complete',
    description: `The body is streamed, so a range may have any length; an error cuts the connection. ${SUBJECTS} Rows of several markets follow one another by the starts of their windows. \`GET /v1/export/manifest\` with the same parameters describes the rows.`,
    query: exportFields(parts.tickers),
    refusals: [409],
    response: null,
    produces: Object.values(MEDIA_TYPES),
    handle: async (request) => {
      const { store } = parts;
      const { signal } = request;
      const { subject, range, format } = await readAsked(parts, request);
      const name = await exportFileName(store, subject, { format, range, signal });
      const sources = await openSources(readerOf(parts), subject, { range, signal });
      const { dataset } = subject;
      const body = request.headOnly
        ? streamedHead()
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
    refusals: [409],
    response: exportManifestShape,
    handle: async (request) => {
      const { store } = parts;
      const { signal } = request;
      const asked = await readAsked(parts, request);
      if (request.headOnly) return { body: streamedHead() };
      const { subject, range, format } = asked;
      const name = await exportFileName(store, subject, { format, range, signal });
      const sources = await openSources(readerOf(parts), subject, { range, signal });
      const manifest = await buildManifest(store, sources, {
        ...asked,
        file: { name, bytes: null, sha256: null },
        hashed: await hashRows(store, sources, signal),
        signal,
      });
      return { body: JSON.stringify(manifest) };
    },
  });
}

/** @throws {RequestRefusedError} 422, 400, 403, 404 or 409 for an export that is not possible. */
async function readAsked(parts: Parts, request: Request): Promise<Asked> {
  const { query, history, signal } = request;
  const { start, end, format } = query;
  const subject = exportSubject(query);
  if (!('dataset' in subject)) throw invalid([subject]);
  checkRange(start, end);
  if ('jobId' in subject) {
    await checkJob(parts, subject, request);
    // The tier's history limited the job when it was submitted.
    return { subject, range: { startMs: start, endMs: end }, format };
  }
  const range = { startMs: history.range({ startMs: start, endMs: end }), endMs: end };
  if ('markets' in subject && subject.markets !== 'all' && 'marketIds' in subject.markets) {
    for (const marketId of subject.markets.marketIds) await knownMarket(parts, marketId, signal);
  }
  return { subject, range, format };
}

async function checkJob(
  { backtests }: Parts,
  { jobId, dataset }: { jobId: string; dataset: JobDataset },
  { identity }: Request,
): Promise<void> {
  if (identity === null) throw new TypeError('a route without a key has no user');
  const job = await backtests.jobs.find(jobId, identity);
  if (job === null) throw notFound('Job not found');
  const missing = missingResult(job, dataset);
  if (missing !== null) throw conflict(missing);
}
