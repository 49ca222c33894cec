import type { RateLimits } from '../accounts/limits/limits.ts';
import { METRICS_PER_MINUTE } from '../accounts/limits/limits.ts';
import { retryIn } from '../http/refusal.ts';
import { type Route, route } from '../http/route.ts';
import { type ReadinessReport, readinessAnswer } from '../ops/readiness.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Metrics } from '../runtime/metrics.ts';
import { healthShape, probeShape, readinessShape } from '../schema/api/resources.ts';
import { formatTime } from '../schema/time.ts';

/** Recording counts as working if the newest book snapshot is at most this old. */
const FRESH_MS = 5 * 60_000;

interface HealthDependencies {
  readonly live: {
    /** Receipt of the newest book snapshot of a prediction market; null before the first. */
    readonly latestSnapshotTimeMs: number | null;
    snapshotsLast5Min(): number;
    /** Whether the service can do its work, and if not, why. */
    ready(): ReadinessReport;
  };
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** They are served at another address, and not at the API's. */
  readonly metricsElsewhere?: boolean;
  readonly rateLimits: RateLimits | null;
}

/** The routes that need no key: health from memory, the two probes, and the metrics. */
export function healthRoutes({
  live,
  clock,
  metrics,
  metricsElsewhere = false,
  rateLimits,
}: HealthDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/health',
      auth: 'none',
      access: { feature: null, duringMaintenance: true },
      summary: 'Health: whether book snapshots are arriving',
      response: healthShape,
      handle: () => {
        const latest = live.latestSnapshotTimeMs;
        return {
          body: JSON.stringify({
            ok: latest !== null && clock.now() - latest < FRESH_MS,
            latest_snapshot: latest === null ? null : formatTime(latest),
            snapshots_last_5min: live.snapshotsLast5Min(),
          }),
        };
      },
    }),
    route({
      method: 'GET',
      path: '/livez',
      auth: 'none',
      access: { feature: null, duringMaintenance: true },
      summary: 'Liveness: the process answers',
      response: probeShape,
      handle: () => ({ body: '{"ok":true}' }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      auth: 'none',
      access: { feature: null },
      summary: 'Readiness: the service works and is not in maintenance mode',
      description: 'A late or silent venue feed is listed in `degraded`; the service stays ready.',
      response: readinessShape,
      handle: () => {
        const { body, ...head } = readinessAnswer(live.ready());
        return { ...head, body: JSON.stringify(body) };
      },
    }),
    ...(metricsElsewhere ? [] : [metricsRoute({ metrics, rateLimits })]),
  ];
}

function metricsRoute({ metrics, rateLimits }: Pick<HealthDependencies, 'metrics' | 'rateLimits'>): Route {
  return route({
    method: 'GET',
    path: '/metrics',
    auth: 'none',
    access: { feature: null, duringMaintenance: true },
    summary: 'Metrics in the Prometheus text format',
    description: `Each client address may read them ${METRICS_PER_MINUTE} times a minute.`,
    refusals: [429],
    beforeBody: (address) => {
      const waitSeconds = rateLimits?.metrics(address).retryAfterSeconds ?? 0;
      if (waitSeconds > 0) throw retryIn(waitSeconds, 'Too many requests for metrics from this address');
    },
    response: null,
    produces: 'text/plain',
    handle: async () => ({
      contentType: metrics.registry.contentType,
      body: await metrics.registry.metrics(),
    }),
  });
}
