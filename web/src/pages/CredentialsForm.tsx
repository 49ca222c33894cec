import { Button, PasswordInput, Stack, TextInput } from '@mantine/core';
import { type FormEvent, type ReactNode, useState } from 'react';
import { ApiProblem } from '../api/problem.ts';
import { FormProblem, useShownProblem } from '../ui/FormProblem.tsx';

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Code of an authenticator app; undefined: not required. */
  readonly code?: string;
}

/** Form for e-mail address and password, with the service's errors beside the fields. */
export function CredentialsForm({
  submit,
  isBusy,
  error,
  isNew,
  action,
}: {
  submit: (credentials: Credentials) => void;
  isBusy: boolean;
  error: Error | null;
  /** The user chooses a new password. */
  isNew: boolean;
  action: string;
}): ReactNode {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [code, setCode] = useState('');
  const needsCode = error instanceof ApiProblem && error.needsCode;
  // The field stays while the code is sent and the error is reset.
  const [wasAsked, setWasAsked] = useState(false);
  if (needsCode && !wasAsked) setWasAsked(true);
  const { fields, error: shown, change } = useShownProblem(error);
  const send = (event: FormEvent) => {
    event.preventDefault();
    submit({ email, password, ...(wasAsked ? { code } : {}) });
  };
  return (
    <form onSubmit={send}>
      <Stack gap="sm">
        <FormProblem error={shown} />
        <TextInput
          label="E-mail address"
          type="email"
          name="email"
          autoComplete="username"
          required
          value={email}
          onChange={(event) => {
            setEmail(event.currentTarget.value);
            change('email');
          }}
          error={fields.get('email')}
        />
        <PasswordInput
          label="Password"
          name="password"
          description={isNew ? 'At least 8 characters' : undefined}
          autoComplete={isNew ? 'new-password' : 'current-password'}
          required
          minLength={isNew ? 8 : undefined}
          value={password}
          onChange={(event) => {
            setPassword(event.currentTarget.value);
            change('password');
          }}
          error={fields.get('password')}
        />
        {wasAsked && (
          <TextInput
            label="Code"
            name="code"
            description="From your authenticator app, or a recovery code"
            autoComplete="one-time-code"
            required
            autoFocus
            value={code}
            onChange={(event) => {
              setCode(event.currentTarget.value);
              change('code');
            }}
          />
        )}
        <Button type="submit" loading={isBusy}>
          {action}
        </Button>
      </Stack>
    </form>
  );
}
