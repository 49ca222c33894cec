import { Badge } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Webhook } from '../../api/schema.ts';

export function WebhookState({ hook }: { hook: Webhook }): ReactNode {
  const { state, failing, consecutive_failures: failures } = hook;
  if (state === 'paused') {
    return <Badge color={failing ? 'red.9' : 'gray.7'}>{failing ? 'Failing, paused' : 'paused'}</Badge>;
  }
  if (failures > 0) return <Badge color="red.9">Failing ({failures} consecutive failures)</Badge>;
  return <Badge color="teal.9">active</Badge>;
}
