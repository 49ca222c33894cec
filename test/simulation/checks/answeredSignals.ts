import type { AuditRowBody } from '../../../src/schema/api/signals.ts';
import type { Opportunity } from '../../../src/schema/opportunity.ts';
import { auditIdOf } from '../../../src/signals/detection.ts';
import type { Answered } from '../world/apiClient.ts';
import type { World } from '../world/world.ts';
import type { Check } from './check.ts';

type Fail = (text: string) => void;

/**
 * The API shows only opportunities that are in the audit. Its audit has every opportunity that was published, unchanged,
 * in one chain.
 */
export const answeredSignalsAudited: Check = {
  name: 'api_signals_audited',
  begin(world, report) {
    /** By audit id: when it was published first. */
    const published = new Map<string, number>();
    world.bus.subscribe('opportunity', ({ market_id, tier }) => {
      const auditId = auditIdOf(market_id, tier);
      if (!published.has(auditId)) published.set(auditId, world.time.nowMs);
    });
    world.onAnswer((answered) => {
      const { kind, status, body, url, askedMs } = answered;
      if (status !== 200) return;
      const fail = (text: string) => report(`${url} answered at ${answered.answeredMs}: ${text}`);
      const before = [...published].flatMap(([auditId, atMs]) => (atMs < askedMs ? [auditId] : []));
      if (kind === 'audit') checkAudit(body as { rows: readonly AuditRowBody[] }, { world, before, fail });
      if (kind === 'audit_sums') checkSums(answered, { world, before, fail });
      if (kind !== 'board') return;
      for (const shown of (body as { opportunities: readonly Opportunity[] }).opportunities) {
        const name = `${shown.tier} of ${shown.polymarket_slug} since ${shown.detected_at}`;
        const audited = world.auditRow(auditIdOf(shown.market_id, shown.tier));
        if (audited?.detectedMs !== Date.parse(shown.detected_at)) fail(`${name} is not in the audit`);
      }
    });
  },
};

interface Known {
  readonly world: World;
  /** Published before the request. */
  readonly before: readonly string[];
  readonly fail: Fail;
}

function checkAudit({ rows }: { rows: readonly AuditRowBody[] }, { world, before, fail }: Known): void {
  const ids = new Set(rows.map(({ audit_id }) => audit_id));
  for (const auditId of before) if (!ids.has(auditId)) fail(`${auditId} was published and is missing`);
  for (const { audit_id, detected_at } of rows)
    if (world.auditRow(audit_id)?.detectedMs !== Date.parse(detected_at))
      fail(`${audit_id} is not in the audit`);
  const hashes = new Set(rows.map(({ hash }) => hash));
  const first = rows.filter(({ prev_hash }) => prev_hash === null || !hashes.has(prev_hash));
  if (rows.length > 0 && first.length !== 1) fail(`the chain has ${first.length} beginnings`);
}

function checkSums({ body }: Answered, { world, before, fail }: Known): void {
  const { overall } = body as { overall: { total: number; resolved: number; open: number } };
  const { total, resolved, open } = overall;
  if (total < before.length || total > world.auditedCount())
    fail(`${total} signals, ${before.length} were published and ${world.auditedCount()} are in the audit`);
  if (open + resolved !== total) fail(`${open} open and ${resolved} resolved are not ${total}`);
}
