/** The venue's latest resolution of settled markets: its listing may correct what its stream sent first. */

import { resolutionOf } from '../../core/session/tapeMarket.ts';
import { boundedCache } from '../../runtime/boundedCache.ts';
import type { Market, Outcome } from '../../schema/market.ts';

/** Several days of windows; corrections arrive within minutes. */
const KEPT_MAX = 5_000;

/** The corrected resolution time of a market that is already settled. */
export interface ResolutionMove {
  readonly marketId: string;
  readonly outcome: Outcome | null;
  readonly resolvedTimeMs: number;
}

interface Settled {
  readonly payoutYes: number | null;
  readonly outcome: Outcome | null;
  readonly resolvedTimeMs: number;
}

export class ResolutionCache {
  readonly #settled = boundedCache<Settled>(KEPT_MAX);

  note(record: Market): void {
    const settled = settledBy(record);
    if (settled === null) return;
    this.#settled.set(record.marketId, settled);
  }

  /** What a record corrects about a settled market: nothing, the time, or the payout. */
  correction(record: Market): 'none' | 'time' | 'payout' {
    const before = this.#settled.get(record.marketId);
    const now = settledBy(record);
    if (before === undefined || now === null) return 'none';
    if (before.payoutYes !== now.payoutYes) return 'payout';
    const isSame = before.outcome === now.outcome && before.resolvedTimeMs === now.resolvedTimeMs;
    return isSame ? 'none' : 'time';
  }
}

function settledBy(record: Market): Settled | null {
  const resolution = resolutionOf(record);
  return resolution && { ...resolution, outcome: record.outcome };
}
