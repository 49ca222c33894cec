import { Button, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';

/** A button that asks once more, for what cannot be taken back. */
export function SureButton({
  verb,
  of,
  isPending,
  error,
  act,
  size = 'xs',
}: {
  verb: string;
  /** What it is done to, for who does not see where the button stands. */
  of: string;
  isPending: boolean;
  error: Error | null;
  act: () => void;
  size?: 'xs' | 'sm';
}): ReactNode {
  const [isSure, setSure] = useState(false);
  if (!isSure) {
    return (
      <Button size={size} variant="default" onClick={() => setSure(true)} aria-label={`${verb} ${of}`}>
        {verb}
      </Button>
    );
  }
  return (
    <Group gap={6} wrap="nowrap">
      <Button size={size} color="red.9" loading={isPending} onClick={act}>
        {verb} for good
      </Button>
      <Button size={size} variant="default" onClick={() => setSure(false)}>
        Keep
      </Button>
      {error !== null && (
        <Text size="xs" role="alert">
          {error.message}
        </Text>
      )}
    </Group>
  );
}
