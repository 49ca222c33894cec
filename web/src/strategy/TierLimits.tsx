import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi, useSession } from '../api/hooks.ts';
import type { TierTable } from '../api/schema.ts';
import { number } from '../ui/format.ts';

type Limits = TierTable['tiers']['free'];

/** What the reader's tier allows, before a form is filled; nothing until it is loaded. */
export function TierLimits(): ReactNode {
  const limits = useLimits();
  if (limits === null) return null;
  const { own, tier } = limits;
  const history = own.history_days === null ? 'all history' : `${number(own.history_days)} days of history`;
  const sweeps = own.sweep_cells === 0 ? 'no sweeps' : `${number(own.sweep_cells)} cells in a sweep`;
  return (
    <Text size="sm" c="dimmed" role="note">
      Tier {tier}: up to {number(own.backtest_markets)} markets in a backtest, {sweeps},{' '}
      {own.backtest_jobs === 1 ? 'one job' : `${number(own.backtest_jobs)} jobs`} at once, {history}.
    </Text>
  );
}

/** The limits of the reader's tier; null until loaded. */
export function useLimits(): { readonly own: Limits; readonly tier: string } | null {
  const { data: user } = useSession();
  const table = useApi('GET /app/tiers', {});
  if (!user || table.data === undefined) return null;
  const tier = user.tier;
  return { own: table.data.tiers[tier as keyof TierTable['tiers']], tier };
}
