import { Alert, Code, Text } from '@mantine/core';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { noteSession, useAction, useApi } from '../api/hooks.ts';
import type { SignUpState } from '../api/schema.ts';
import { Failure, Loading } from '../ui/states.tsx';
import { CredentialsForm } from './CredentialsForm.tsx';
import { EntryCard } from './EntryCard.tsx';

/** Creates an account; with the setup link, the operator's. */
export function SignUp(): ReactNode {
  const { setup } = useSearch({ from: '/sign-up' });
  const state = useApi('GET /app/sign-up', {});
  const isFirst = state.data?.has_operator === false;
  const about = isFirst ? 'Your account will be the operator’s' : 'An account on this service';
  return (
    <EntryCard title="Sign up" about={about}>
      {state.isPending && <Loading rows={2} />}
      {state.isError && <Failure error={state.error} retry={() => void state.refetch()} />}
      {state.isSuccess && (whyNot(state.data, setup) ?? <SignUpForm setup={setup ?? null} />)}
      <Text size="sm">
        Already have an account? <Link to="/sign-in">Sign in</Link>
      </Text>
    </EntryCard>
  );
}

/** Instruction where sign-up would be refused; null: it is possible. */
function whyNot({ has_operator, open }: SignUpState, setup: string | undefined): ReactNode {
  if (!has_operator) {
    if (setup !== undefined) return null;
    return (
      <Alert title="This service has no operator yet">
        Create its first account with the setup link. <Code>underround serve</Code> printed it on its standard
        output, in the line after <Code>ready</Code>. Restart the service to get another link.
      </Alert>
    );
  }
  if (setup !== undefined) {
    return (
      <Alert color="orange" title="This setup link has been used">
        The service has its operator. Sign in, or <Link to="/sign-up">sign up</Link> without the link.
      </Alert>
    );
  }
  if (open) return null;
  return (
    <Alert color="orange" title="Sign-up is closed">
      Ask the operator of this service for an account.
    </Alert>
  );
}

function SignUpForm({ setup }: { setup: string | null }): ReactNode {
  const signUp = useAction('POST /app/sign-up');
  const navigate = useNavigate();
  const submit = (credentials: { email: string; password: string }) =>
    signUp.mutate(
      { body: { ...credentials, ...(setup === null ? {} : { setup }) } },
      {
        onSuccess: ({ user }) => {
          noteSession(user);
          void navigate({ to: '/welcome', replace: true });
        },
      },
    );
  return (
    <CredentialsForm
      submit={submit}
      isBusy={signUp.isPending}
      error={signUp.error}
      isNew
      action="Create account"
    />
  );
}
