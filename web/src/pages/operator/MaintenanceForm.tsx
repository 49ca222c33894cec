import { Alert, Button, Group, NumberInput, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction, useApi } from '../../api/hooks.ts';
import { moment } from '../../ui/format.ts';
import { Failure, Loading } from '../../ui/states.tsx';

/** Starts maintenance, in which only the operator can use the service, and ends it. */
export function MaintenanceForm(): ReactNode {
  const state = useApi('GET /app/maintenance', {});
  const change = useAction('PUT /app/maintenance', ['GET /app/maintenance']);
  const [message, setMessage] = useState('');
  const [minutes, setMinutes] = useState<number | string>(10);
  if (state.isPending) return <Loading rows={2} />;
  if (state.isError) return <Failure error={state.error} retry={() => void state.refetch()} />;
  const close = (event: FormEvent) => {
    event.preventDefault();
    const body = {
      message: message === '' ? null : message,
      retry_after_seconds: Math.round(Number(minutes) * 60),
    };
    change.mutate({ body: { on: true, ...body } });
  };
  return (
    <>
      {state.data.on ? (
        <Alert color="orange" title={`In maintenance since ${moment(state.data.since)}`}>
          <Group justify="space-between">
            {state.data.message ?? 'Clients are asked to retry later.'}
            <Button loading={change.isPending} onClick={() => change.mutate({ body: { on: false } })}>
              End maintenance
            </Button>
          </Group>
        </Alert>
      ) : (
        <form onSubmit={close}>
          <Group align="flex-end">
            <TextInput
              label="Message for clients"
              placeholder="back at noon"
              value={message}
              onChange={(event) => setMessage(event.currentTarget.value)}
            />
            <NumberInput label="Minutes" min={1} max={1440} w={150} value={minutes} onChange={setMinutes} />
            <Button type="submit" color="red.9" loading={change.isPending}>
              Start maintenance
            </Button>
          </Group>
        </form>
      )}
      {change.error !== null && <Alert color="red" role="alert" title={change.error.message} />}
    </>
  );
}
