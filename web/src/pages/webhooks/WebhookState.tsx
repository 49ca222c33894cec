import { Badge, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Webhook } from '../../api/schema.ts';

/** The state in a word that fits a phone, and below it how many attempts failed since the last success. */
export function WebhookState({ hook }: { hook: Webhook }): ReactNode {
  const { state, failing, consecutive_failures: failures } = hook;
  return (
    <Stack gap={2} align="flex-start">
      {state === 'paused' ? (
        <Badge color={failing ? 'red.9' : 'gray.7'}>{failing ? 'Failing, paused' : 'paused'}</Badge>
      ) : (
        <Badge color={failures > 0 ? 'red.9' : 'teal.9'}>{failures > 0 ? 'failing' : 'active'}</Badge>
      )}
      {failures > 0 && (
        <Text size="xs" c="dimmed">
          {failures === 1 ? 'the last attempt failed' : `the last ${failures} attempts failed`}
        </Text>
      )}
    </Stack>
  );
}
