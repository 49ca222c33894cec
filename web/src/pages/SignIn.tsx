import { Text } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { noteSession, useAction } from '../api/hooks.ts';
import { type Credentials, CredentialsForm } from './CredentialsForm.tsx';
import { EntryCard } from './EntryCard.tsx';

export function SignIn(): ReactNode {
  const signIn = useAction('POST /app/sign-in');
  const navigate = useNavigate();
  const { next } = useSearch({ from: '/sign-in' });
  const submit = (body: Credentials) =>
    signIn.mutate(
      { body },
      {
        onSuccess: ({ user }) => {
          noteSession(user);
          void navigate({ href: next ?? '/', replace: true });
        },
      },
    );
  return (
    <EntryCard title="Sign in" about="To the order books of this service">
      <CredentialsForm
        submit={submit}
        isBusy={signIn.isPending}
        error={signIn.error}
        isNew={false}
        action="Sign in"
      />
      <Text size="sm">
        No account yet? <Link to="/sign-up">Sign up</Link>
      </Text>
    </EntryCard>
  );
}
