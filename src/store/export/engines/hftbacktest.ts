/** Files for hftbacktest: one `.npz` for each token of a market. */
import { hftbacktestEvents } from '../../queries/engineEvents.ts';
import type { StoreReader } from '../../reader.ts';
import { type AskedEvents, engineBytes, type WrittenPart, writeWhole } from './engineFile.ts';
import { npzOf } from './npzFile.ts';

const SAFE = /[^\w.-]/g;

/** @returns Null for a token without events. */
export async function writeHftbacktest(
  store: StoreReader,
  { market, token, upToSeq, signal, pathOf }: AskedEvents,
): Promise<WrittenPart[]> {
  const events = hftbacktestEvents({ marketId: market.market_id, upToSeq }, token);
  const [counted] = await store.rows<{ rows: number }>(
    `SELECT count() AS rows FROM (${events.query})`,
    { ...events.params },
    { signal },
  );
  const rows = counted?.rows ?? 0;
  if (rows === 0) return [];
  const day = new Date(market.start_ms).toISOString().slice(0, 10);
  const path = `series=${market.ticker}-${market.event_type}/date=${day}/${market.slug.replaceAll(SAFE, '_')}-${token}.npz`;
  const bytes = engineBytes(store, events, { format: 'RowBinary', signal });
  return [{ path, rows, ...(await writeWhole(pathOf(path), npzOf(bytes, rows), { signal })) }];
}
