import { type CursorScope, decodeCursor, encodeCursor, SEQ_TIE } from '../http/cursor.ts';
import { type Route, route } from '../http/route.ts';
import type { Clock } from '../runtime/clock.ts';
import { optional, withDefault } from '../schema/api/fields.ts';
import * as parameter from '../schema/api/parameters.ts';
import {
  AUDIT_WINDOWS,
  type AuditRowBody,
  auditAggregateShape,
  auditRowsShape,
  SIGNAL_TIERS,
} from '../schema/api/signals.ts';
import { literal } from '../schema/api/types.ts';
import type { EventType, FollowedAssets } from '../schema/market.ts';
import { printJson } from '../schema/moneyJson.ts';
import { formatTime, formatTimeOrNull } from '../schema/time.ts';
import type { AuditFilter, AuditRecord } from '../signals/auditReader.ts';
import type { SignalReaders } from '../signals/signals.ts';
import { aggregateBody } from './arbAggregate.ts';

const HOUR_MS = 3_600_000;
const WINDOW_MS: Readonly<Record<(typeof AUDIT_WINDOWS)[number], number | null>> = {
  '1h': HOUR_MS,
  '24h': 24 * HOUR_MS,
  '7d': 7 * 24 * HOUR_MS,
  '30d': 30 * 24 * HOUR_MS,
  all: null,
};
const window = withDefault(
  literal(AUDIT_WINDOWS),
  'all',
  'Only signals detected within this long before now',
);
const ABOUT =
  'Every opportunity is written to this log before it is published, once per market and tier. A hash chain links the rows.';

interface AuditDependencies extends FollowedAssets {
  readonly signals: Pick<SignalReaders, 'audit'>;
  readonly clock: Clock;
}

export function arbAuditRoutes(parts: AuditDependencies): Route[] {
  const { clock, tickers } = parts;
  return [
    route({
      method: 'GET',
      path: '/v1/arb/audit/aggregate',
      auth: 'key',
      access: { feature: 'market_data' },
      summary: 'Expected and realised value of signals',
      description: ABOUT,
      query: { window },
      response: auditAggregateShape,
      handle: async ({ query }) => {
        const asOfMs = clock.now();
        const sinceMs = startOf(query.window, asOfMs);
        const filter = { sinceMs, ticker: null, tier: null, eventType: null };
        const sums = await parts.signals.audit.sums(filter);
        return { body: printJson(aggregateBody(sums, { tickers, window: query.window, sinceMs, asOfMs })) };
      },
    }),
    route({
      method: 'GET',
      path: '/v1/arb/audit',
      auth: 'key',
      access: { feature: 'market_data' },
      summary: 'Signals in the audit log, newest first',
      description: `${ABOUT} \`prev_hash\` is the \`hash\` of the previously written signal of any ticker and tier.`,
      query: {
        window,
        ticker: parameter.optionalTicker(tickers),
        tier: optional(literal(SIGNAL_TIERS), 'Only signals of this tier'),
        event_type: parameter.optionalEventType,
        limit: parameter.limit(100, 1000),
        cursor: parameter.cursor,
      },
      response: auditRowsShape,
      handle: async ({ query }) => {
        const { ticker, tier, limit } = query;
        const eventType: EventType | null = query.event_type;
        const scope: CursorScope = ['audit', query.window, ticker, tier, eventType];
        const place = decodeCursor(scope, query.cursor, SEQ_TIE);
        const filter = { sinceMs: startOf(query.window, clock.now()), ticker, tier, eventType };
        if (limit === 0) return { body: JSON.stringify(await countedBody(parts, filter)) };
        const after = place && { detectedMs: place.timeMs, seq: Number(place.tie) };
        const found = await parts.signals.audit.list(filter, { after, limit: limit + 1 });
        const records = found.slice(0, limit);
        const last = found.length > limit ? records.at(-1) : undefined;
        const next = last && { timeMs: last.detection.detectedMs, tie: String(last.seq) };
        const body = {
          count: records.length,
          rows: records.map(rowBody),
          next_cursor: next ? encodeCursor(scope, next) : null,
        };
        // Not printed with `printJson`: rows of earlier releases are returned exactly as they were stored and hashed.
        return { body: JSON.stringify(body) };
      },
    }),
  ];
}

function startOf(asked: (typeof AUDIT_WINDOWS)[number], nowMs: number): number | null {
  const lengthMs = WINDOW_MS[asked];
  return lengthMs === null ? null : nowMs - lengthMs;
}

async function countedBody({ signals }: Pick<AuditDependencies, 'signals'>, filter: AuditFilter) {
  const sums = await signals.audit.sums(filter);
  return { count: sums.reduce((count, { total }) => count + total, 0), rows: [], next_cursor: null };
}

function rowBody({ detection, executable, settlement, hash, prevHash }: AuditRecord): AuditRowBody {
  return {
    audit_id: detection.auditId,
    detected_at: formatTime(detection.detectedMs),
    market_id: detection.marketId,
    polymarket_slug: detection.slug,
    ticker: detection.ticker,
    event_type: detection.eventType,
    tier: detection.tier,
    confidence: detection.confidence,
    direction: detection.direction,
    fill_price: detection.fillPrice,
    fill_spread: detection.fillSpread,
    est_fee_per_share: detection.feePerShare,
    model_ev_per_share: detection.evPerShare,
    model_yes_prob: detection.modelYesProb,
    available_size: detection.availableSize,
    underlying: detection.spot,
    strike_price: detection.strike,
    strike_source: detection.strikeSource,
    sigma_annual: detection.sigmaAnnual,
    tau_minutes: detection.tauSeconds / 60,
    executable: (executable ?? []).map(({ afterMs, fillPrice, size }) => ({
      after_ms: afterMs,
      fill_price: fillPrice,
      size,
    })),
    resolved_at: formatTimeOrNull(settlement?.resolvedMs ?? null),
    outcome: settlement?.outcome ?? null,
    realized_per_share: settlement?.realized ?? null,
    hash,
    prev_hash: prevHash,
  };
}
