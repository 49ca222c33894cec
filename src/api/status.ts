import type { CollectorConnections } from '../bus/recordStream.ts';
import type { StatusPageAccess } from '../config.ts';
import { type Answer, type Route, route } from '../http/route.ts';
import type { ReadinessReport } from '../ops/readiness.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/log.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { statusShape } from '../schema/api/statusResources.ts';
import type { Gap } from '../schema/gap.ts';
import type { FollowedAssets } from '../schema/market.ts';
import type { StoreReader } from '../store/reader.ts';
import { QualityHistory } from './qualityHistory.ts';
import { statusBody } from './statusBody.ts';
import { renderStatus, STATUS_PAGE_HEADERS } from './statusPage.ts';

/** Both answers are made at most this often, whoever asks. */
const KEPT_MS = 1_000;
const NO_STORE = { 'cache-control': 'no-store' } as const;

interface StatusDependencies extends FollowedAssets {
  readonly store: StoreReader;
  readonly live: {
    ready(): ReadinessReport;
    storeLagMs(): number;
    openGaps?(): readonly Gap[];
    collectors?(): readonly CollectorConnections[];
  };
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Who may read the page; default: the operator. */
  readonly statusPage?: StatusPageAccess;
}

/**
 * The status page and its JSON: the recording's completeness and the current faults. A page that is not public is
 * under `/app`, like everything that needs a session.
 */
export function statusRoutes(parts: StatusDependencies): Route[] {
  const { statusPage = 'operator' } = parts;
  if (statusPage === 'off') return [];
  const read = answers(parts);
  const operators = pages(read, { prefix: '/app', auth: 'operator' });
  return statusPage === 'public' ? [...pages(read, { prefix: '', auth: 'none' }), ...operators] : operators;
}

function pages(
  read: () => Promise<StatusAnswers>,
  { prefix, auth }: { prefix: string; auth: 'none' | 'operator' },
): Route[] {
  const shared = { method: 'GET', auth, access: { feature: null, duringMaintenance: true } } as const;
  return [
    route({
      ...shared,
      path: `${prefix}/status`,
      summary: 'Status page: feeds, coverage, gaps and lag of the last 30 days',
      response: null,
      produces: 'text/html',
      handle: async () => (await read()).page,
    }),
    route({
      ...shared,
      path: `${prefix}/status.json`,
      summary: 'The status page as data',
      description: 'Days and incidents are up to a minute old; `history_as_of` says from when they are.',
      response: statusShape,
      handle: async () => (await read()).data,
    }),
  ];
}

interface StatusAnswers {
  readonly page: Answer;
  readonly data: Answer;
}

function answers(parts: StatusDependencies): () => Promise<StatusAnswers> {
  const { live, clock, metrics, tickers } = parts;
  const history = new QualityHistory(parts);
  let known: (StatusAnswers & { readonly atMs: number }) | null = null;
  return async () => {
    if (known !== null && clock.monotonic() - known.atMs < KEPT_MS) return known;
    const reading = await history.read();
    const here = { feeds: metrics.venueFeeds.rows() };
    const body = statusBody(reading, {
      ...{ tickers, nowMs: clock.now(), readiness: live.ready(), storeLagMs: live.storeLagMs() },
      connections: live.collectors?.() ?? [here],
      openGaps: live.openGaps?.() ?? [],
    });
    known = {
      atMs: clock.monotonic(),
      page: {
        contentType: 'text/html; charset=utf-8',
        headers: { ...STATUS_PAGE_HEADERS, ...NO_STORE },
        body: renderStatus(body),
      },
      data: { headers: NO_STORE, body: JSON.stringify(body) },
    };
    return known;
  };
}
