import type { Gap } from '../schema/gap.ts';
import { type ReplayMarket, type ReplayRange, resolutionsOf } from '../store/queries/replay.ts';
import { loadGapsOf } from '../store/queries/resume.ts';
import type { StoreReader } from '../store/reader.ts';
import { gapNotice, statusNotice } from './notices.ts';

/** A gap or a resolution. */
export interface ReplayNotice {
  readonly atMs: number;
  readonly message: Readonly<Record<string, unknown>>;
}

/**
 * Gaps as they were detected, and resolutions, oldest first. Gaps from before the range are included if they are open
 * in it.
 */
export async function noticesOf(
  store: StoreReader,
  markets: readonly ReplayMarket[],
  { fromMs, toMs }: ReplayRange,
  signal: AbortSignal,
): Promise<ReplayNotice[]> {
  const ids = markets.map(({ marketId }) => marketId);
  const [gaps, resolved] = await Promise.all([
    loadGapsOf(store, ids, { signal }),
    resolutionsOf(store, ids, signal),
  ]);
  const notices = [
    ...gaps.flatMap(gapNotices),
    ...resolved.map(({ atMs, ...resolution }) => ({
      ...{ atMs, endsAtMs: atMs },
      message: statusNotice({ ...resolution, status: 'resolved' }),
    })),
  ];
  return notices
    .filter(({ atMs, endsAtMs }) => endsAtMs >= fromMs && atMs < toMs)
    .sort((a, b) => a.atMs - b.atMs);
}

/** @returns Each notice with the time after which it no longer matters. */
function gapNotices(gap: Gap) {
  const { startReceivedMs, endReceivedMs, knownTimeMs } = gap;
  const atMs = knownTimeMs ?? startReceivedMs;
  const message = gapNotice({ ...gap, endTimeMs: null });
  const open = { atMs, endsAtMs: endReceivedMs ?? Number.POSITIVE_INFINITY, message };
  if (endReceivedMs === null) return [open];
  return [open, { atMs: Math.max(endReceivedMs, atMs), endsAtMs: endReceivedMs, message: gapNotice(gap) }];
}
