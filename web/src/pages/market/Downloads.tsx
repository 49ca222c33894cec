import { Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { addressOf } from '../../api/client.ts';
import { useFeature, whereIncluded } from '../../api/feature.ts';
import { Failure, Loading } from '../../ui/states.tsx';

const FILES = [
  { dataset: 'snapshots', label: 'Every book as CSV' },
  { dataset: 'trades', label: 'Every trade as CSV' },
] as const;

/** The whole recording of a market as files, streamed however long it is. */
export function Downloads({ marketId }: { marketId: string }): ReactNode {
  const { included, table } = useFeature('export');
  if (table.isError) return <Failure error={table.error} retry={() => void table.refetch()} />;
  if (included === null) return <Loading rows={1} />;
  if (!included.own) {
    return (
      <Text size="sm" c="dimmed">
        Files of whole recordings are not in tier {included.tier}. {whereIncluded(included.tiers)}{' '}
        <Link to="/account">Your account</Link> shows what yours includes.
      </Text>
    );
  }
  return (
    <Group gap="xs">
      {FILES.map(({ dataset, label }) => (
        <Button
          key={dataset}
          size="xs"
          variant="default"
          renderRoot={(props) => <a {...props} href={exportAddress(dataset, marketId)} download />}
        >
          {label}
        </Button>
      ))}
    </Group>
  );
}

function exportAddress(dataset: (typeof FILES)[number]['dataset'], marketId: string): string {
  return addressOf('/v1/export', { query: { dataset, market_id: marketId, format: 'csv' } });
}
