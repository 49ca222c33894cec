import { AUDIT_EVENT_TYPES, type AuditAggregateBody, SIGNAL_TIERS } from '../schema/api/signals.ts';
import type { FollowedAssets } from '../schema/market.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';
import type { AuditSums } from '../signals/auditReader.ts';

/**
 * The aggregate of the audit log as the API returns it: every bucket is present, and averages over nothing are null. Rows
 * of assets that are no longer followed have no bucket, so no total counts them.
 * @param asked `sinceMs` null: since the first detection.
 */
export function aggregateBody(
  all: readonly AuditSums[],
  asked: FollowedAssets & { window: AuditAggregateBody['window']; sinceMs: number | null; asOfMs: number },
): AuditAggregateBody {
  const sums = all.filter(({ ticker }) => asked.tickers.includes(ticker));
  const { total, resolved, ...averages } = figures(sums);
  const firstMs = sums.length === 0 ? null : Math.min(...sums.map((part) => part.firstMs));
  const lastMs = sums.length === 0 ? null : Math.max(...sums.map((part) => part.lastMs));
  const logical = figures(sums.filter(({ tier }) => tier === 'logical'));
  return {
    window: asked.window,
    since: formatTimeOrNull(asked.sinceMs ?? firstMs),
    as_of: formatTime(asked.asOfMs),
    overall: {
      ...{ total, resolved, open: total - resolved },
      ...{ logical_total: logical.total, logical_resolved: logical.resolved },
      ...averages,
      first_detection: formatTimeOrNull(firstMs),
      last_detection: formatTimeOrNull(lastMs),
    },
    by_ticker: buckets(sums, asked.tickers, ({ ticker }) => ticker),
    by_tier: buckets(sums, SIGNAL_TIERS, ({ tier }) => tier),
    by_event_type: buckets(sums, AUDIT_EVENT_TYPES, ({ eventType }) => eventType),
  };
}

function buckets<V extends string>(
  sums: readonly AuditSums[],
  values: readonly V[],
  of: (part: AuditSums) => string,
): ({ bucket: V } & ReturnType<typeof figures>)[] {
  return values.map((bucket) => ({ bucket, ...figures(sums.filter((part) => of(part) === bucket)) }));
}

function figures(sums: readonly AuditSums[]) {
  const add = (of: (part: AuditSums) => number) => sums.reduce((sum, part) => sum + of(part), 0);
  const total = add((part) => part.total);
  const resolved = add((part) => part.resolved);
  const realized = add((part) => part.realized);
  return {
    total,
    resolved,
    avg_model_ev: total === 0 ? null : add((part) => part.modelEv) / total,
    avg_realized: resolved === 0 ? null : realized / resolved,
    total_realized: realized,
  };
}
