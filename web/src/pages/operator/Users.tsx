import { Alert, Badge, Group, NativeSelect, Pagination, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import { useAction, useApi } from '../../api/hooks.ts';
import type { User } from '../../api/schema.ts';
import { Confirmation, ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { useShownProblem } from '../../ui/FormProblem.tsx';
import { moment, number } from '../../ui/format.ts';
import { TableFrame } from '../../ui/frames.tsx';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty } from '../../ui/states.tsx';

const PAGE_SIZE = 25;
const SEARCH_DELAY_MS = 250;
const TIERS = ['free', 'pro', 'plus', 'premium'] as const;
type Tier = User['tier'];

/** All users, found by address, with tiers and suspensions. */
export function Users(): ReactNode {
  const [page, setPage] = useState(1);
  const [wanted, setWanted] = useState('');
  const [search] = useDebouncedValue(wanted.trim(), SEARCH_DELAY_MS);
  const query = {
    ...{ limit: PAGE_SIZE, offset: (page - 1) * PAGE_SIZE },
    ...(search === '' ? {} : { search }),
  };
  const users = useApi('GET /app/users', { query }, { keep: true });
  const pages = Math.ceil((users.data?.total ?? 0) / PAGE_SIZE);
  return (
    <>
      <Group justify="space-between" align="flex-end">
        <TextInput
          type="search"
          aria-label="Search users"
          placeholder="Search by e-mail address"
          w={280}
          value={wanted}
          onChange={(event) => {
            setWanted(event.currentTarget.value);
            setPage(1);
          }}
        />
        <Text size="sm" c="dimmed" role="status">
          {users.data !== undefined &&
            `${number(users.data.total)} ${users.data.total === 1 ? 'user' : 'users'}${search === '' ? '' : ' found'}`}
        </Text>
      </Group>
      {users.isPending && <TableFrame rows={3} />}
      <RequestFailure of={users} />
      {users.data?.users.length === 0 && <Empty title="No user has this address" />}
      {users.data !== undefined && users.data.users.length > 0 && (
        <DataTable label="Users" columns={COLUMNS} rows={users.data.users} keyOf={({ user_id }) => user_id} />
      )}
      {pages > 1 && <Pagination total={pages} value={page} onChange={setPage} />}
    </>
  );
}

const COLUMNS: readonly Column<User>[] = [
  {
    title: 'E-mail address',
    isText: true,
    cell: (user) => (
      <Group gap={6}>
        {user.email}
        {user.operator && <Badge variant="outline">operator</Badge>}
        {user.suspended && <Badge color="red.9">suspended</Badge>}
      </Group>
    ),
  },
  { title: 'Since, UTC', cell: (user) => moment(user.created_at) },
  { title: 'Tier', cell: (user) => <TierChoice user={user} /> },
  { title: 'Access', cell: (user) => (user.operator ? 'all pages' : <Suspension user={user} />) },
];

/** What a user may do in each tier changes at once, so the change is confirmed. */
function TierChoice({ user }: { user: User }): ReactNode {
  const [chosen, setChosen] = useState<Tier | null>(null);
  const tier = chosen ?? user.tier;
  const change = useAction('PATCH /app/users/{user_id}', ['GET /app/users']);
  const { error, change: changed } = useShownProblem(change.error);
  const isLower = TIERS.indexOf(tier) < TIERS.indexOf(user.tier);
  return (
    <Stack gap={6} align="flex-start">
      <NativeSelect
        aria-label={`Tier of ${user.email}`}
        size="xs"
        w={110}
        data={[...TIERS]}
        value={tier}
        onChange={(event) => {
          setChosen(event.currentTarget.value as Tier);
          changed('tier');
        }}
      />
      {tier !== user.tier && (
        <Confirmation
          consequence={
            isLower
              ? `${user.email} and all their keys get the limits of ${tier} at once. Streams that ${tier} does not include are closed; webhooks continue.`
              : `${user.email} and all their keys get the limits of ${tier} at once.`
          }
          confirm={`Change to ${tier}`}
          label={`Change ${user.email} to ${tier}`}
          isPending={change.isPending}
          error={error}
          act={() =>
            change.mutate(
              { path: { user_id: user.user_id }, body: { tier } },
              { onSuccess: () => setChosen(null) },
            )
          }
          leave={() => setChosen(null)}
        />
      )}
    </Stack>
  );
}

function Suspension({ user }: { user: User }): ReactNode {
  const change = useAction('PATCH /app/users/{user_id}', ['GET /app/users']);
  const set = (suspended: boolean) => change.mutate({ path: { user_id: user.user_id }, body: { suspended } });
  if (user.suspended) {
    return (
      <>
        <ConfirmButton
          key="lift"
          verb="Lift suspension"
          of={`of ${user.email}`}
          confirm="Lift suspension now"
          consequence={`${user.email} can sign in again, and their keys work again.`}
          isPending={change.isPending}
          error={null}
          act={() => set(false)}
        />
        {change.error !== null && <Alert color="red" role="alert" title={change.error.message} />}
      </>
    );
  }
  return (
    // The two buttons have keys, so that an answered confirmation of one is not the open confirmation of the other.
    <ConfirmButton
      key="suspend"
      verb="Suspend"
      of={user.email}
      confirm="Suspend now"
      consequence={`All sessions of ${user.email} end at once and every server refuses their keys, until you lift the suspension. Their data is kept.`}
      isPending={change.isPending}
      error={change.error}
      act={() => set(true)}
    />
  );
}
