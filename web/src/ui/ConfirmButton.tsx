import { Button, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';

/** A button with a confirmation, for irreversible actions. The keyboard focus stays at the button. */
export function ConfirmButton({
  verb,
  of,
  isPending,
  error,
  act,
  size = 'xs',
}: {
  verb: string;
  /** The object of the action, for screen readers. */
  of: string;
  isPending: boolean;
  error: Error | null;
  /** @param whenDone Call it when the object still exists after the action. */
  act: (whenDone: () => void) => void;
  size?: 'xs' | 'sm';
}): ReactNode {
  const [stage, setStage] = useState<'unasked' | 'asked' | 'answered'>('unasked');
  if (stage !== 'asked') {
    return (
      <Button
        size={size}
        variant="default"
        // Only after the confirmation, which had the keyboard focus.
        autoFocus={stage === 'answered'}
        onClick={() => setStage('asked')}
        aria-label={`${verb} ${of}`}
      >
        {verb}
      </Button>
    );
  }
  const leave = () => setStage('answered');
  return (
    <Group gap={6} wrap="nowrap">
      <Button
        size={size}
        color="red.9"
        loading={isPending}
        onClick={() => act(leave)}
        aria-label={`${verb} ${of} for good`}
      >
        {verb} for good
      </Button>
      <Button size={size} variant="default" autoFocus onClick={leave}>
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
