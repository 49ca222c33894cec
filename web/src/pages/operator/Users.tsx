import { Alert, Badge, Button, NativeSelect, Pagination, Table } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useAction, useApi } from '../../api/hooks.ts';
import type { User } from '../../api/schema.ts';
import { moment } from '../../ui/format.ts';
import { Failure, Loading } from '../../ui/states.tsx';

const PAGE_SIZE = 25;

/** All users, with tiers and suspensions. */
export function Users(): ReactNode {
  const [page, setPage] = useState(1);
  const query = { limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE };
  const users = useApi('GET /app/users', { query }, { keep: true });
  const change = useAction('PATCH /app/users/{user_id}', ['GET /app/users']);
  if (users.isPending) return <Loading rows={3} />;
  if (users.isError) return <Failure error={users.error} retry={() => void users.refetch()} />;
  const set = (user: User, body: { tier?: User['tier']; suspended?: boolean }) =>
    change.mutate({ path: { user_id: user.user_id }, body });
  const pages = Math.ceil(users.data.total / PAGE_SIZE);
  return (
    <>
      {change.error !== null && <Alert color="red" role="alert" title={change.error.message} />}
      <Table.ScrollContainer minWidth={640}>
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>E-mail address</Table.Th>
              <Table.Th>Tier</Table.Th>
              <Table.Th>Since</Table.Th>
              <Table.Th>State</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {users.data.users.map((user) => (
              <Table.Tr key={user.user_id}>
                <Table.Td>{user.email}</Table.Td>
                <Table.Td>
                  <NativeSelect
                    aria-label={`Tier of ${user.email}`}
                    size="xs"
                    w={110}
                    data={['free', 'pro', 'plus', 'premium']}
                    value={user.tier}
                    onChange={(event) => set(user, { tier: event.currentTarget.value as User['tier'] })}
                  />
                </Table.Td>
                <Table.Td className="nowrap">{moment(user.created_at)}</Table.Td>
                <Table.Td>
                  {user.operator ? (
                    <Badge variant="outline">operator</Badge>
                  ) : (
                    <Suspend user={user} set={set} />
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {pages > 1 && <Pagination total={pages} value={page} onChange={setPage} />}
    </>
  );
}

function Suspend({
  user,
  set,
}: {
  user: User;
  set: (user: User, body: { suspended: boolean }) => void;
}): ReactNode {
  const verb = user.suspended ? 'Lift suspension' : 'Suspend';
  return (
    <Button
      size="xs"
      variant="default"
      aria-label={`${verb} of ${user.email}`}
      onClick={() => set(user, { suspended: !user.suspended })}
    >
      {verb}
    </Button>
  );
}
