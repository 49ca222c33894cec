import { Badge, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Connectedness } from './messages.ts';

const COLOURS = { live: 'teal.9', connecting: 'gray.7', lost: 'red.9' } as const;

/** State of the page's stream; without a connection, the reason. */
export function ConnectionBadge({
  connection,
  reason,
}: {
  connection: Connectedness;
  reason: string | null;
}): ReactNode {
  return (
    <>
      <Badge color={COLOURS[connection]} variant="filled">
        {connection === 'lost' ? 'reconnecting' : connection}
      </Badge>
      {reason !== null && (
        <Text size="sm" role="alert">
          {reason}
        </Text>
      )}
    </>
  );
}
