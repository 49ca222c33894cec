/** Outcomes that some markets of a backtest did not have: a seeded share is annulled, another pays late. */

import { Random } from '../core/random.ts';
import type { Resolution } from '../core/session/tape.ts';
import type { Stress } from '../schema/strategy.ts';

const MS_PER_HOUR = 3_600_000;

export type StressKind = 'void' | 'disputed';

interface StressedResolution {
  readonly kind: StressKind;
  readonly resolution: Resolution;
}

/**
 * The resolution of a market under stress. The draw depends on the market alone, so that the same markets are stressed
 * in every job.
 * @returns Null: as the venue resolved it.
 */
export function stressedResolution(
  marketId: string,
  { stress, resolution }: { stress: Stress; resolution: Resolution },
): StressedResolution | null {
  const draw = new Random(`stress ${marketId}`).next();
  if (draw < stress.void_share) {
    // The venue itself annulled it.
    if (resolution.payoutYes === null) return null;
    return { kind: 'void', resolution: { ...resolution, payoutYes: null } };
  }
  if (draw >= stress.void_share + stress.disputed_share) return null;
  const resolvedTimeMs = resolution.resolvedTimeMs + stress.dispute_delay_hours * MS_PER_HOUR;
  return { kind: 'disputed', resolution: { ...resolution, resolvedTimeMs } };
}
