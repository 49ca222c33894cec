import { Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Feature, useFeature, whereIncluded } from '../api/feature.ts';
import { LineIcon } from './LineIcon.tsx';

/** Shows its children in tiers with the feature, and otherwise, before anything is filled in, which tiers have it. */
export function TierLock({
  feature,
  what,
  children,
  aside,
}: {
  feature: Feature;
  /** Plural, first letter large, e.g. `Sweeps`. */
  what: string;
  children: ReactNode;
  /** What the reader can do instead. */
  aside?: ReactNode;
}): ReactNode {
  const { included } = useFeature(feature);
  // Until the tiers are loaded the form is shown: most readers may use it.
  if (included === null || included.own) return children;
  return (
    <Stack className="card" align="center" gap={6} py="xl" px="md" ta="center" role="note">
      <Lock />
      <Text component="h2" fw={650}>
        {what} are not in tier {included.tier}
      </Text>
      <Text component="div" c="dimmed" maw={520}>
        {whereIncluded(included.tiers)} {aside}
      </Text>
    </Stack>
  );
}

function Lock(): ReactNode {
  return (
    <LineIcon size={26}>
      <rect x="5" y="11" width="14" height="9" rx="2" />
      <path d="M8 11V8a4 4 0 0 1 8 0v3" />
    </LineIcon>
  );
}
