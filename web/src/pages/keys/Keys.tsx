import { Badge, Stack, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAction, useApi } from '../../api/hooks.ts';
import type { OwnKeyList } from '../../api/schema.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { moment, number } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { NewKey } from './NewKey.tsx';

type Key = OwnKeyList['keys'][number];

/** The user's API keys: create, list, revoke. */
export function Keys(): ReactNode {
  const keys = useApi('GET /app/keys', {});
  return (
    <Page title="API keys" about="A key has your tier. It is shown only once, when you create it.">
      <Stack className="card" p="md">
        <NewKey />
      </Stack>
      <div className="card">
        {keys.isPending && <Loading />}
        {keys.isError && <Failure error={keys.error} retry={() => void keys.refetch()} />}
        {keys.isSuccess && <KeyTable keys={keys.data.keys} />}
      </div>
    </Page>
  );
}

function KeyTable({ keys }: { keys: readonly Key[] }): ReactNode {
  if (keys.length === 0)
    return <Empty title="No keys yet">Create one above; programs send it with each request.</Empty>;
  return (
    <Table.ScrollContainer minWidth={720}>
      <Table verticalSpacing="sm">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Label</Table.Th>
            <Table.Th>Begins with</Table.Th>
            <Table.Th>Created</Table.Th>
            <Table.Th>Last used</Table.Th>
            <Table.Th>Requests, 30 days</Table.Th>
            <Table.Th>State</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {keys.toReversed().map((key) => (
            <Table.Tr key={key.key_id}>
              <Table.Td>{key.label}</Table.Td>
              <Table.Td ff="monospace">{key.prefix}…</Table.Td>
              <Table.Td className="nowrap">{moment(key.created_at)}</Table.Td>
              <Table.Td className="nowrap">
                {key.last_used_at === null ? 'never' : moment(key.last_used_at)}
              </Table.Td>
              <Table.Td>{number(key.requests_30d)}</Table.Td>
              <Table.Td>
                {key.revoked_at === null ? (
                  <Revoke keyId={key.key_id} label={key.label} />
                ) : (
                  <Badge color="gray" variant="outline">
                    revoked
                  </Badge>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function Revoke({ keyId, label }: { keyId: string; label: string }): ReactNode {
  const revoke = useAction('DELETE /app/keys/{key_id}', ['GET /app/keys']);
  return (
    <ConfirmButton
      verb="Revoke"
      of={label}
      isPending={revoke.isPending}
      error={revoke.error}
      act={() => revoke.mutate({ path: { key_id: keyId } })}
    />
  );
}
