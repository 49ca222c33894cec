import { Alert, Text } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { noteSession, useAction } from '../api/hooks.ts';
import { Loading } from '../ui/states.tsx';
import { type Credentials, CredentialsForm } from './CredentialsForm.tsx';
import { EntryCard } from './EntryCard.tsx';

/** Signs in by the form, or at once by the link that the service printed. */
export function SignIn(): ReactNode {
  const { link } = useSearch({ from: '/sign-in' });
  const visit = useLink(link);
  const isBusy = link !== undefined && visit === null;
  return (
    <EntryCard title="Sign in" about="To the order books of this service">
      {visit !== null && (
        <Alert color="orange" title="The link did not sign you in">
          {visit.message}
        </Alert>
      )}
      {isBusy ? <Loading rows={2} /> : <SignInForm />}
    </EntryCard>
  );
}

/** Uses the link up, once however often the page is drawn. @returns Why it was refused; null: it was not, so far. */
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
          // In place of the link: going back must not lead to it.
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
