import { Button, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';

/** A button that asks once more, for what cannot be taken back. The keyboard stays where the button was. */
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
  /** @param whenDone To be called where the thing it was done to is still there after it. */
  act: (whenDone: () => void) => void;
  size?: 'xs' | 'sm';
}): ReactNode {
  const [stage, setStage] = useState<'unasked' | 'asked' | 'answered'>('unasked');
  if (stage !== 'asked') {
    return (
      <Button
        size={size}
        variant="default"
        // Only back from the question, which was asked where the keyboard is.
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
