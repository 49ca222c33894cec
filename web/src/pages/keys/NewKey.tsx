import { Alert, Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction } from '../../api/hooks.ts';
import { FormProblem, useShownProblem } from '../../ui/FormProblem.tsx';
import { Copyable } from '../../ui/Secret.tsx';

/** Creates a key and shows it once, with a first request. */
export function NewKey({ suggested = '' }: { suggested?: string }): ReactNode {
  const [label, setLabel] = useState(suggested);
  const create = useAction('POST /app/keys', ['GET /app/keys'], { isShownOnce: true });
  const send = (event: FormEvent) => {
    event.preventDefault();
    create.mutate({ body: { label } }, { onSuccess: () => setLabel('') });
  };
  const { fields, error, change } = useShownProblem(create.error);
  return (
    <Stack gap="sm">
      <form onSubmit={send}>
        <Group align="flex-end" gap="xs">
          <TextInput
            label="What the key is for"
            placeholder="laptop"
            required
            maxLength={128}
            value={label}
            onChange={(event) => {
              setLabel(event.currentTarget.value);
              change('label');
            }}
            error={fields.get('label')}
          />
          <Button type="submit" loading={create.isPending}>
            Create key
          </Button>
        </Group>
      </form>
      <FormProblem error={error} />
      {create.data !== undefined && <FirstRequest secret={create.data.key} label={create.data.label} />}
    </Stack>
  );
}

function FirstRequest({ secret, label }: { secret: string; label: string }): ReactNode {
  const address = `${window.location.origin}/v1/markets?ticker=BTC&event_type=5m&limit=3`;
  return (
    <Alert color="teal" title={`Key “${label}”: copy it now, it is not shown again`}>
      <Stack gap="sm">
        <Copyable text={secret} label="API key" />
        <Text size="sm">Paste this into a terminal:</Text>
        <Copyable text={`curl -s -H "Authorization: Bearer ${secret}" "${address}"`} label="first request" />
      </Stack>
    </Alert>
  );
}
