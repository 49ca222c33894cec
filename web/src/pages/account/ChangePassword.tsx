import { Alert, Button, Group, PasswordInput, Stack } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction } from '../../api/hooks.ts';
import { FormProblem, useShownProblem } from '../../ui/FormProblem.tsx';

/** Changes the password, which ends every other session. */
export function ChangePassword(): ReactNode {
  const [current, setCurrent] = useState('');
  const [wanted, setWanted] = useState('');
  const change = useAction('POST /app/password', ['GET /app/sessions']);
  const { fields, error, change: changed } = useShownProblem(change.error);
  const send = (event: FormEvent) => {
    event.preventDefault();
    const body = { current_password: current, new_password: wanted };
    change.mutate(
      { body },
      {
        onSuccess: () => {
          setCurrent('');
          setWanted('');
        },
      },
    );
  };
  return (
    <form onSubmit={send}>
      <Stack gap="sm" maw={420}>
        <PasswordInput
          label="Current password"
          autoComplete="current-password"
          required
          value={current}
          onChange={(event) => {
            setCurrent(event.currentTarget.value);
            changed('current_password');
          }}
          error={fields.get('current_password')}
        />
        <PasswordInput
          label="New password"
          description="At least 8 characters. Other browsers are signed out."
          autoComplete="new-password"
          required
          minLength={8}
          value={wanted}
          onChange={(event) => {
            setWanted(event.currentTarget.value);
            changed('new_password');
          }}
          error={fields.get('new_password')}
        />
        <FormProblem error={error} />
        {change.isSuccess && <Alert color="teal" title="Your password was changed" />}
        <Group>
          <Button type="submit" loading={change.isPending}>
            Change password
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
