import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { noteSession, useAction, useApi, useSession } from '../../api/hooks.ts';
import type { SessionList } from '../../api/schema.ts';
import { moment } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { ChangePassword } from './ChangePassword.tsx';
import { SecondFactor } from './SecondFactor.tsx';
import { TierTable } from './TierTable.tsx';

/** The user's tier, sessions, password and one-time codes. */
export function Account(): ReactNode {
  const { data: user } = useSession();
  const sessions = useApi('GET /app/sessions', {});
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
        {sessions.isPending && <Loading rows={2} />}
        {sessions.isError && <Failure error={sessions.error} retry={() => void sessions.refetch()} />}
        {sessions.isSuccess && <Sessions sessions={sessions.data.sessions} />}
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
  const signOut = useAction('POST /app/sign-out');
  const navigate = useNavigate();
  const leave = () =>
    signOut.mutate(
      {},
      {
        // Navigate first: a page in the shell that loses its session becomes the return page of the sign-in.
        onSettled: async () => {
          await navigate({ to: '/sign-in' });
          noteSession(null);
        },
      },
    );
  return (
    <Button variant="default" onClick={leave} loading={signOut.isPending}>
      Sign out
    </Button>
  );
}

function Sessions({ sessions }: SessionList): ReactNode {
  const end = useAction('DELETE /app/sessions/{session_id}', ['GET /app/sessions']);
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table verticalSpacing="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Browser</Table.Th>
            <Table.Th>Address</Table.Th>
            <Table.Th>Last seen</Table.Th>
            <Table.Th>Ends</Table.Th>
            <Table.Th>State</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sessions.map((session) => (
            <Table.Tr key={session.session_id}>
              <Table.Td maw={280}>
                <Text size="sm" truncate title={session.user_agent}>
                  {session.user_agent}
                </Text>
              </Table.Td>
              <Table.Td>{session.address}</Table.Td>
              <Table.Td className="nowrap">{moment(session.last_seen_at)}</Table.Td>
              <Table.Td className="nowrap">{moment(session.expires_at)}</Table.Td>
              <Table.Td>
                {session.current ? (
                  <Badge variant="outline">this one</Badge>
                ) : (
                  <Button
                    size="xs"
                    variant="default"
                    onClick={() => end.mutate({ path: { session_id: session.session_id } })}
                  >
                    End
                  </Button>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {end.error !== null && (
        <Group role="alert">
          <Text size="sm">{end.error.message}</Text>
        </Group>
      )}
    </Table.ScrollContainer>
  );
}
