import { Badge, Group, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import { moment, number } from '../../ui/format.ts';
import { Failure } from '../../ui/states.tsx';

const REFETCH_MS = 5_000;

interface Readiness {
  readonly ok: boolean;
  readonly reasons?: readonly string[];
}

/** Whether snapshots come in, and whether the service can do its work. */
export function FeedStatus(): ReactNode {
  const health = useApi('GET /health', {}, { refetchMs: REFETCH_MS });
  const ready = useQuery({
    queryKey: ['ready'],
    // Not being ready is an answer here, not a failure.
    queryFn: async ({ signal }) => (await (await fetch('/readyz', { signal })).json()) as Readiness,
    refetchInterval: REFETCH_MS,
  });
  if (health.isError) return <Failure error={health.error} retry={() => void health.refetch()} />;
  return (
    <Group gap="lg">
      <Badge color={health.data?.ok ? 'teal.9' : 'red.9'}>
        {health.data?.ok ? 'receiving' : 'nothing for five minutes'}
      </Badge>
      <Badge color={ready.data?.ok === false ? 'red.9' : 'teal.9'}>
        {ready.data?.ok === false ? (ready.data.reasons ?? ['not ready']).join(', ') : 'ready'}
      </Badge>
      <Text size="sm">{number(health.data?.snapshots_last_5min)} books in the last 5 minutes</Text>
      <Text size="sm" c="dimmed">
        newest {moment(health.data?.latest_snapshot)}
      </Text>
    </Group>
  );
}
