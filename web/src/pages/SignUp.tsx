import { Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { noteSession, useAction } from '../api/hooks.ts';
import { CredentialsForm } from './CredentialsForm.tsx';
import { EntryCard } from './EntryCard.tsx';

export function SignUp(): ReactNode {
  const signUp = useAction('POST /app/sign-up');
  const navigate = useNavigate();
  const submit = (body: { email: string; password: string }) =>
    signUp.mutate(
      { body },
      {
        onSuccess: ({ user }) => {
          noteSession(user);
          void navigate({ to: '/welcome', replace: true });
        },
      },
    );
  return (
    <EntryCard title="Sign up" about="The first to sign up on a service is its operator">
      <CredentialsForm
        submit={submit}
        isBusy={signUp.isPending}
        error={signUp.error}
        isNew
        action="Make an account"
      />
      <Text size="sm">
        Signed up already? <Link to="/sign-in">Sign in</Link>
      </Text>
    </EntryCard>
  );
}
