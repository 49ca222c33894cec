/** Rows of the dataset `signals`: the audit, oldest detection first. */
import {
  EXECUTABLE_AFTER_MS,
  EXPORT_COLUMNS,
  type ExportRange,
  type MarketSelection,
} from '../schema/export.ts';
import type { RowValue, RowValues } from '../store/export/rowValues.ts';
import type { AuditReader, AuditRecord } from './auditReader.ts';

const PAGE_ROWS = 1_000;

/** Yields the audit rows of markets that were detected within the range. */
export async function* auditRows(
  audit: Pick<AuditReader, 'oldest'>,
  markets: MarketSelection,
  range: ExportRange,
): AsyncGenerator<RowValues> {
  let after: Parameters<AuditReader['oldest']>[1]['after'] = null;
  for (;;) {
    const records = await audit.oldest({ markets, range }, { after, limit: PAGE_ROWS });
    for (const record of records) yield rowOf(record);
    const last = records.at(-1);
    if (last === undefined || records.length < PAGE_ROWS) return;
    after = { detectedMs: last.detection.detectedMs, seq: last.seq };
  }
}

function rowOf({ seq, detection, executable, settlement, hash, prevHash }: AuditRecord): RowValues {
  const fills = new Map((executable ?? []).map((fill) => [fill.afterMs, fill]));
  const values: Readonly<Record<string, RowValue>> = {
    ...{ market_id: detection.marketId, audit_id: detection.auditId },
    ...{ detected_at: detection.detectedMs, received_at: detection.receivedMs },
    ...{ polymarket_slug: detection.slug, ticker: detection.ticker, event_type: detection.eventType },
    ...{ tier: detection.tier, confidence: detection.confidence, direction: detection.direction },
    ...{ fill_price: detection.fillPrice, fill_spread: detection.fillSpread },
    ...{ est_fee_per_share: detection.feePerShare, model_ev_per_share: detection.evPerShare },
    ...{ model_yes_prob: detection.modelYesProb, available_size: detection.availableSize },
    ...{ underlying: detection.spot, strike_price: detection.strike, strike_source: detection.strikeSource },
    ...{ sigma_annual: detection.sigmaAnnual, tau_minutes: detection.tauSeconds / 60 },
    ...{ resolved_at: settlement?.resolvedMs ?? null, outcome: settlement?.outcome ?? null },
    ...{ realized_per_share: settlement?.realized ?? null, hash, prev_hash: prevHash, seq },
    ...Object.fromEntries(
      EXECUTABLE_AFTER_MS.flatMap((ms) => [
        [`fill_price_after_${ms}ms`, fills.get(ms)?.fillPrice ?? null],
        [`size_after_${ms}ms`, fills.get(ms)?.size ?? null],
      ]),
    ),
  };
  return EXPORT_COLUMNS.signals.map(({ name }) => values[name] as RowValue);
}
