import { Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';

/** A button with a confirmation that says what will happen. The keyboard focus stays at the button. */
export function ConfirmButton({
  verb,
  of,
  consequence,
  confirm = `${verb} for good`,
  isPending,
  error,
  act,
  size = 'xs',
}: {
  verb: string;
  /** The object of the action, for screen readers. */
  of: string;
  /** What will happen, as a sentence. */
  consequence?: string;
  /** The button that confirms; by default the verb with `for good`. */
  confirm?: string;
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
    <Confirmation
      {...{ consequence, confirm, isPending, error, size, leave }}
      label={confirm.startsWith(verb) ? `${verb} ${of}${confirm.slice(verb.length)}` : `${confirm}: ${of}`}
      act={() => act(leave)}
    />
  );
}

/** Says what the action will do, with a button that confirms it and one that cancels. */
export function Confirmation({
  consequence,
  confirm,
  label,
  isPending,
  error,
  act,
  leave,
  size = 'xs',
}: {
  consequence: string | undefined;
  confirm: string;
  /** Of the confirming button, for screen readers. */
  label: string;
  isPending: boolean;
  error: Error | null;
  act: () => void;
  leave: () => void;
  size?: 'xs' | 'sm';
}): ReactNode {
  return (
    <Stack gap={6} align="flex-start">
      {consequence !== undefined && (
        <Text size="sm" maw={420} style={{ whiteSpace: 'normal' }}>
          {consequence}
        </Text>
      )}
      <Group gap={6} wrap="nowrap">
        <Button size={size} color="red.9" loading={isPending} onClick={act} aria-label={label}>
          {confirm}
        </Button>
        <Button size={size} variant="default" autoFocus onClick={leave}>
          Keep
        </Button>
      </Group>
      {error !== null && (
        <Text size="xs" role="alert">
          {error.message}
        </Text>
      )}
    </Stack>
  );
}
