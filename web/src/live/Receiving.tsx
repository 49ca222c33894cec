import { Badge, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Health } from '../api/schema.ts';
import { number } from '../ui/format.ts';

/** Whether the service receives books, independent of this page's own connection; nothing until known. */
export function Receiving({ health }: { health: Health | undefined }): ReactNode {
  if (health === undefined) return null;
  return (
    <>
      <Badge color={health.ok ? 'teal.9' : 'red.9'}>
        {health.ok ? 'receiving' : 'nothing received for five minutes'}
      </Badge>
      <Text size="sm">{number(health.snapshots_last_5min)} books in the last 5 minutes</Text>
    </>
  );
}
