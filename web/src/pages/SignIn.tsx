import { Alert, Text } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { noteSession, useAction } from '../api/hooks.ts';
import { Loading } from '../ui/states.tsx';
import { type Credentials, CredentialsForm } from './CredentialsForm.tsx';
import { EntryCard } from './EntryCard.tsx';

/** Signs in by the form, or at once by the printed link. */
export function SignIn(): ReactNode {
  const { link } = useSearch({ from: '/sign-in' });
  const visit = useLink(link);
  const isBusy = link !== undefined && visit === null;
  return (
    <EntryCard title="Sign in" about="Order books, signals and backtests of this service">
      {visit !== null && (
        <Alert color="orange" title="The link did not sign you in">
          {visit.message}
        </Alert>
      )}
      {isBusy ? <Loading rows={2} /> : <SignInForm />}
    </EntryCard>
  );
}

/** Consumes the link, once per page. @returns The refusal; null: none so far. */
function useLink(link: string | undefined): Error | null {
  const { mutate, error } = useAction('POST /app/sign-in-link');
  const navigate = useNavigate();
  const used = useRef<string | null>(null);
  useEffect(() => {
    if (link === undefined || used.current === link) return;
    used.current = link;
    mutate(
      { body: { link } },
      {
        onSuccess: ({ user }) => {
          noteSession(user);
          // Replaces the link in the history: "back" must not return to it.
          void navigate({ to: '/', replace: true });
        },
      },
    );
  }, [link, mutate, navigate]);
  return error;
}

function SignInForm(): ReactNode {
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
    <>
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
    </>
  );
}
