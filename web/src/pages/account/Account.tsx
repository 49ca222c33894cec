import { Badge, Button, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAction, useApi, useSession } from '../../api/hooks.ts';
import type { SessionList } from '../../api/schema.ts';
import { useSignOut } from '../../app/useSignOut.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { moment } from '../../ui/format.ts';
import { TableFrame } from '../../ui/frames.tsx';
import { Page } from '../../ui/Page.tsx';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { browserName } from './browserName.ts';
import { ChangePassword } from './ChangePassword.tsx';
import { SecondFactor } from './SecondFactor.tsx';
import { TierTable } from './TierTable.tsx';

const REFETCH_MS = 30_000;

/** The user's tier, sessions, password and one-time codes. */
export function Account(): ReactNode {
  const { data: user } = useSession();
  const sessions = useApi('GET /app/sessions', {}, { refetchMs: REFETCH_MS });
  return (
    <Page title="Account" about={user?.email} actions={<SignOut />}>
      <Stack className="card" p="md" gap="sm">
        <Text component="h2" fw={600}>
          Your tier: {user?.tier}
        </Text>
        <TierTable own={user?.tier ?? 'free'} />
        <Text size="sm" c="dimmed">
          The operator of this service sets the tier of each account.
        </Text>
      </Stack>
      <Stack className="card" p="md" gap="sm">
        <Text component="h2" fw={600}>
          Where you are signed in
        </Text>
        {sessions.isPending && <TableFrame rows={2} columns={6} />}
        <RequestFailure of={sessions} />
        {sessions.data !== undefined && <Sessions sessions={sessions.data.sessions} />}
      </Stack>
      <Stack className="card" p="md" gap="sm">
        <Text component="h2" fw={600}>
          Change your password
        </Text>
        <ChangePassword />
      </Stack>
      <Stack className="card" p="md" gap="sm" component="section" aria-label="One-time codes">
        <Text component="h2" fw={600}>
          One-time codes
        </Text>
        <SecondFactor />
      </Stack>
    </Page>
  );
}

function SignOut(): ReactNode {
  const { signOut, isPending } = useSignOut();
  return (
    <Button variant="default" onClick={signOut} loading={isPending}>
      Sign out
    </Button>
  );
}

function Sessions({ sessions }: SessionList): ReactNode {
  const end = useAction('DELETE /app/sessions/{session_id}', ['GET /app/sessions']);
  return (
    <>
      <DataTable
        label="Sessions"
        columns={columnsOf((session_id) => end.mutate({ path: { session_id } }))}
        rows={sessions}
        keyOf={({ session_id }) => session_id}
      />
      {end.error !== null && (
        <Text size="sm" role="alert">
          {end.error.message}
        </Text>
      )}
    </>
  );
}

function columnsOf(end: (sessionId: string) => void): readonly Column<SessionList['sessions'][number]>[] {
  return [
    {
      title: 'Browser',
      isText: true,
      cell: ({ user_agent }) => (
        <Text size="sm" lineClamp={1} title={user_agent}>
          {browserName(user_agent)}
        </Text>
      ),
    },
    { title: 'Address', cell: ({ address }) => address },
    { title: 'Last seen, UTC', cell: ({ last_seen_at }) => moment(last_seen_at) },
    { title: 'Ends, UTC', cell: ({ expires_at }) => moment(expires_at) },
    {
      title: 'State',
      cell: ({ current }) => (current ? <Badge variant="outline">this one</Badge> : 'signed in'),
    },
    {
      title: 'Actions',
      cell: ({ current, session_id }) =>
        current ? (
          'Sign out, above'
        ) : (
          <Button size="xs" variant="default" onClick={() => end(session_id)}>
            End
          </Button>
        ),
    },
  ];
}
