import { Alert, Button, Group, NumberInput, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import type { AnswerOf } from '../../api/client.ts';
import { useAction, useApi } from '../../api/hooks.ts';
import { Confirmation } from '../../ui/ConfirmButton.tsx';
import { FormProblem, useShownProblem } from '../../ui/FormProblem.tsx';
import { moment } from '../../ui/format.ts';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Loading } from '../../ui/states.tsx';

/** Starts maintenance, in which only the operator can use the service, and ends it. */
export function MaintenanceForm(): ReactNode {
  const state = useApi('GET /app/maintenance', {});
  const change = useAction('PUT /app/maintenance', ['GET /app/maintenance']);
  if (state.isPending) return <Loading rows={2} />;
  const known = lastAnswer(state);
  if (known === undefined) return <RequestFailure of={state} />;
  return (
    <>
      <RequestFailure of={state} />
      {known.on ? <Ongoing maintenance={known} change={change} /> : <StartForm change={change} />}
    </>
  );
}

type Change = ReturnType<typeof useAction<'PUT /app/maintenance'>>;

function Ongoing({
  maintenance: { since, message },
  change,
}: {
  maintenance: AnswerOf<'GET /app/maintenance'>;
  change: Change;
}): ReactNode {
  return (
    <>
      <Alert color="orange" title={`In maintenance since ${moment(since)} UTC`}>
        <Group justify="space-between">
          {message ?? 'Clients are asked to retry later.'}
          <Button loading={change.isPending} onClick={() => change.mutate({ body: { on: false } })}>
            End maintenance
          </Button>
        </Group>
      </Alert>
      <FormProblem error={change.error} />
    </>
  );
}

function StartForm({ change }: { change: Change }): ReactNode {
  const [message, setMessage] = useState('');
  const [minutes, setMinutes] = useState<number | string>(10);
  const [isAsked, setAsked] = useState(false);
  const { fields, error, change: changed } = useShownProblem(change.error);
  const ask = (event: FormEvent) => {
    event.preventDefault();
    setAsked(true);
  };
  const start = () => {
    const body = {
      message: message === '' ? null : message,
      retry_after_seconds: Math.round(Number(minutes) * 60),
    };
    change.mutate({ body: { on: true, ...body } });
  };
  return (
    <form onSubmit={ask}>
      <Group align="flex-end">
        <TextInput
          label="Message for clients"
          placeholder="back at noon"
          value={message}
          error={fields.get('message')}
          onChange={(event) => {
            setMessage(event.currentTarget.value);
            changed('message');
          }}
        />
        <NumberInput
          label="Minutes"
          min={1}
          max={1440}
          w={150}
          value={minutes}
          error={fields.get('retry_after_seconds')}
          onChange={(value) => {
            setMinutes(value);
            changed('retry_after_seconds');
          }}
        />
        {!isAsked && (
          <Button type="submit" variant="default">
            Start maintenance
          </Button>
        )}
      </Group>
      {isAsked && (
        <Confirmation
          consequence={`Every request of other users is answered with 503 and “retry in ${minutes} min”, and their streams are closed. Recording continues. It lasts until you end it here.`}
          confirm="Start maintenance now"
          label="Start maintenance now"
          isPending={change.isPending}
          error={null}
          size="sm"
          act={start}
          leave={() => setAsked(false)}
        />
      )}
      <FormProblem error={error} />
    </form>
  );
}
