import { Alert, Group, Progress, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef } from 'react';
import { useApi } from '../api/hooks.ts';
import { WARNING_COLOUR } from '../theme.ts';
import { IS_SIMULATED } from './DataSourceBadge.tsx';

const REFETCH_MS = 1_000;

/** Progress of the demo's history, on every page until it is complete; then the page's figures are reloaded. */
export function HistoryBar(): ReactNode {
  const client = useQueryClient();
  const state = useApi(
    'GET /app/state',
    {},
    {
      enabled: IS_SIMULATED,
      refetchMs: REFETCH_MS,
      isFinal: ({ history }) => history === null,
    },
  );
  const history = state.data?.history ?? null;
  const isRunning = history !== null;
  const wasRunning = useRef(false);
  useEffect(() => {
    if (wasRunning.current && !isRunning) void client.invalidateQueries();
    wasRunning.current = isRunning;
  }, [isRunning, client]);
  if (history === null) return null;
  const { share, hours, failure } = history;
  const percent = Math.min(99, Math.floor(share * 100));
  const recorded = `${percent} % of ${hours} h`;
  if (failure !== null) {
    return (
      <Alert color="red" mb="md" title="The simulated history is incomplete">
        Recorded: {recorded}. {failure}
      </Alert>
    );
  }
  return (
    <Group role="region" aria-label="Simulated history" mb="md" gap="sm" wrap="wrap">
      <Text size="sm">
        Recording simulated history: {recorded}. Figures for past times are incomplete until it ends.
      </Text>
      <Progress
        value={percent}
        color={WARNING_COLOUR}
        aria-label="Simulated history recorded"
        flex={1}
        miw={120}
      />
    </Group>
  );
}
