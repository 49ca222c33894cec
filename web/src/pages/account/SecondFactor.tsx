import { Alert, Button, Code, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useAction, useApi } from '../../api/hooks.ts';
import { FormProblem, useShownProblem } from '../../ui/FormProblem.tsx';
import { QrCode } from '../../ui/QrCode.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Loading } from '../../ui/states.tsx';

/** One-time codes of an authenticator app: enabled and disabled with the password and a code. */
export function SecondFactor(): ReactNode {
  const state = useApi('GET /app/second-factor', {});
  const begin = useAction('POST /app/second-factor');
  const confirm = useAction('POST /app/second-factor/confirm', ['GET /app/second-factor'], {
    isShownOnce: true,
  });
  if (state.isPending) return <Loading rows={2} />;
  if (confirm.isSuccess) return <RecoveryCodes codes={confirm.data.recovery_codes} />;
  const known = lastAnswer(state);
  if (known === undefined) return <RequestFailure of={state} />;
  if (known.enabled) return <Disable left={known.recovery_codes_left} />;
  return (
    <Stack gap="sm">
      <Text size="sm">
        Signing in then requires your password and a code from an authenticator app on your phone.
      </Text>
      {begin.error !== null && <Alert color="red" role="alert" title={begin.error.message} />}
      {begin.data === undefined ? (
        <Group>
          <Button variant="default" loading={begin.isPending} onClick={() => begin.mutate({})}>
            Set up one-time codes
          </Button>
        </Group>
      ) : (
        <>
          <Text size="sm">
            Scan this code with the app, open <a href={begin.data.uri}>this link</a> on its device, or type
            the key into it:
          </Text>
          <QrCode text={begin.data.uri} label="QR code for the app, with the same key as below" />
          <Code block aria-label="authenticator key">
            {begin.data.secret}
          </Code>
          <ProofForm
            action="Enable one-time codes"
            isBusy={confirm.isPending}
            error={confirm.error}
            submit={(body) => confirm.mutate({ body })}
          />
        </>
      )}
    </Stack>
  );
}

function RecoveryCodes({ codes }: { codes: readonly string[] }): ReactNode {
  return (
    <Stack gap="sm">
      <Alert color="teal" title="One-time codes are enabled">
        Store these recovery codes where you can find them without your phone. Each code signs you in once.
        They are shown only once.
      </Alert>
      <Code block aria-label="recovery codes">
        {codes.join('\n')}
      </Code>
    </Stack>
  );
}

function Disable({ left }: { left: number }): ReactNode {
  const disable = useAction('POST /app/second-factor/disable', ['GET /app/second-factor']);
  return (
    <Stack gap="sm">
      <Text size="sm">One-time codes are enabled; {left} recovery codes are left.</Text>
      <ProofForm
        action="Disable one-time codes"
        isBusy={disable.isPending}
        error={disable.error}
        submit={(body) => disable.mutate({ body })}
      />
    </Stack>
  );
}

/** Asks for what only the owner has: the password and a code of the app. */
function ProofForm({
  action,
  isBusy,
  error,
  submit,
}: {
  action: string;
  isBusy: boolean;
  error: Error | null;
  submit: (proof: { password: string; code: string }) => void;
}): ReactNode {
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const { fields, error: shown, change } = useShownProblem(error);
  const send = (event: FormEvent) => {
    event.preventDefault();
    submit({ password, code });
  };
  return (
    <form onSubmit={send}>
      <Stack gap="sm" maw={420}>
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          required
          error={fields.get('password')}
          value={password}
          onChange={(event) => {
            setPassword(event.currentTarget.value);
            change('password');
          }}
        />
        <TextInput
          label="Code from the app"
          autoComplete="one-time-code"
          required
          error={fields.get('code')}
          value={code}
          onChange={(event) => {
            setCode(event.currentTarget.value);
            change('code');
          }}
        />
        <FormProblem error={shown} />
        <Group>
          <Button type="submit" loading={isBusy}>
            {action}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
