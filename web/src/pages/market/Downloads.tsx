import { Button, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { addressOf } from '../../api/client.ts';
import { useFeature, whereIncluded } from '../../api/feature.ts';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { Loading } from '../../ui/states.tsx';

const FILES = [
  { dataset: 'snapshots', format: 'csv', label: 'Every book as CSV' },
  { dataset: 'snapshots', format: 'parquet', label: 'as Parquet' },
  { dataset: 'trades', format: 'csv', label: 'Every trade as CSV' },
  { dataset: 'trades', format: 'parquet', label: 'as Parquet' },
] as const;

/** Downloads of a market's whole recording, streamed at any length. */
export function Downloads({ marketId }: { marketId: string }): ReactNode {
  const { included, table } = useFeature('export');
  if (table.isPending) return <Loading rows={1} />;
  if (included === null) return <RequestFailure of={table} />;
  if (!included.own) {
    return (
      <Text size="sm" c="dimmed">
        Tier {included.tier} does not include files of whole recordings. {whereIncluded(included.tiers)}{' '}
        <Link to="/account">Your account</Link> shows what yours includes.
      </Text>
    );
  }
  return (
    <Group gap="xs">
      {FILES.map(({ dataset, format, label }) => (
        <Button
          key={`${dataset} ${format}`}
          aria-label={`Every ${dataset === 'trades' ? 'trade' : 'book'} as ${format === 'csv' ? 'CSV' : 'Parquet'}`}
          size="xs"
          variant="default"
          renderRoot={(props) => (
            <a {...props} href={exportAddress(dataset, { marketId, format })} download />
          )}
        >
          {label}
        </Button>
      ))}
    </Group>
  );
}

function exportAddress(
  dataset: (typeof FILES)[number]['dataset'],
  { marketId, format }: { marketId: string; format: (typeof FILES)[number]['format'] },
): string {
  return addressOf('/v1/export', { query: { dataset, market_id: marketId, format } });
}
