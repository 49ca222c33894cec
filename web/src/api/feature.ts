import type { UseQueryResult } from '@tanstack/react-query';
import { useApi, useSession } from './hooks.ts';
import type { TierTable } from './schema.ts';

type Limits = TierTable['tiers']['free'];

/** A feature that a tier includes or not; a number is included unless it is 0. */
export type Feature = {
  [K in keyof Limits]: Limits[K] extends boolean | number ? K : never;
}[keyof Limits];

/** Whether the reader's tier includes the feature, and which tiers do; null until loaded. */
export function useFeature(feature: Feature): {
  readonly included: {
    readonly own: boolean;
    readonly tier: string;
    readonly tiers: readonly string[];
  } | null;
  readonly table: UseQueryResult<TierTable, Error>;
} {
  const { data: user } = useSession();
  const table = useApi('GET /app/tiers', {});
  if (!user || table.data === undefined) return { included: null, table };
  const tiers = Object.entries(table.data.tiers).flatMap(([tier, limits]) => (limits[feature] ? [tier] : []));
  return { included: { own: tiers.includes(user.tier), tier: user.tier, tiers }, table };
}

/** A sentence that names the tiers with the feature and who grants them. */
export function whereIncluded(tiers: readonly string[]): string {
  return tiers.length === 0
    ? 'No tier of this service includes them.'
    : `Tiers that include them: ${tiers.join(', ')}. The operator of this service sets your tier.`;
}
