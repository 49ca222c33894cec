import { Badge, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useAction, useApi } from '../../api/hooks.ts';
import type { OwnKeyList } from '../../api/schema.ts';
import { useServiceNow } from '../../live/useServiceClock.ts';
import { ConfirmButton } from '../../ui/ConfirmButton.tsx';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { Figures } from '../../ui/Figures.tsx';
import { age, moment, number } from '../../ui/format.ts';
import { TableFrame } from '../../ui/frames.tsx';
import { Page } from '../../ui/Page.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty } from '../../ui/states.tsx';
import { NewKey } from './NewKey.tsx';

type Key = OwnKeyList['keys'][number];
const REFETCH_MS = 10_000;

/** The user's API keys: create, list, revoke. */
export function Keys(): ReactNode {
  const keys = useApi('GET /app/keys', {}, { refetchMs: REFETCH_MS });
  const known = lastAnswer(keys);
  return (
    <Page title="API keys" about="A key has your tier. It is shown only once, when you create it.">
      <Stack className="card" p="md">
        <NewKey />
      </Stack>
      {keys.isPending && (
        <div className="card">
          <TableFrame rows={3} columns={7} />
        </div>
      )}
      <RequestFailure of={keys} />
      {known !== undefined && <OwnKeys keys={known.keys} />}
    </Page>
  );
}

function OwnKeys({ keys }: { keys: readonly Key[] }): ReactNode {
  const now = useServiceNow();
  if (keys.length === 0) {
    return (
      <div className="card">
        <Empty title="No keys yet">Create one above; programs send it with each request.</Empty>
      </div>
    );
  }
  const asOf = new Date(now).toISOString();
  const live = keys.filter(({ revoked_at }) => revoked_at === null);
  const times = keys.flatMap(({ last_used_at }) => (last_used_at === null ? [] : [last_used_at])).sort();
  const requests = keys.reduce((sum, { requests_30d }) => sum + requests_30d, 0);
  return (
    <>
      <Figures
        cols={{ base: 2, sm: 4 }}
        figures={[
          ['Valid keys', number(live.length)],
          ['Revoked keys', number(keys.length - live.length)],
          ['Requests, 30 days', number(requests)],
          ['Last use of any key', age(times.at(-1) ?? null, asOf)],
        ]}
      />
      <div className="card">
        <DataTable
          label="API keys"
          columns={columnsOf(asOf)}
          rows={keys.toReversed()}
          keyOf={({ key_id }) => key_id}
        />
      </div>
    </>
  );
}

function columnsOf(asOf: string): readonly Column<Key>[] {
  return [
    { title: 'Label', isText: true, cell: ({ label }) => label },
    { title: 'Begins with', cell: ({ prefix }) => <code>{prefix}…</code> },
    { title: 'Created, UTC', cell: ({ created_at }) => moment(created_at) },
    {
      title: 'Last used',
      cell: ({ last_used_at }) => (
        <span title={last_used_at === null ? undefined : `${moment(last_used_at)} UTC`}>
          {age(last_used_at, asOf)}
        </span>
      ),
    },
    { title: 'Requests, 30 days', isNumber: true, cell: ({ requests_30d }) => number(requests_30d) },
    {
      title: 'State',
      cell: ({ revoked_at }) => (
        <Badge color={revoked_at === null ? 'teal.9' : 'gray.7'}>
          {revoked_at === null ? 'valid' : 'revoked'}
        </Badge>
      ),
    },
    {
      title: 'Actions',
      cell: ({ key_id, label, revoked_at }) =>
        revoked_at === null ? <Revoke keyId={key_id} label={label} /> : 'none: it is revoked',
    },
  ];
}

function Revoke({ keyId, label }: { keyId: string; label: string }): ReactNode {
  const revoke = useAction('DELETE /app/keys/{key_id}', ['GET /app/keys']);
  return (
    <ConfirmButton
      verb="Revoke"
      of={label}
      consequence="Every request with this key is refused at once."
      isPending={revoke.isPending}
      error={revoke.error}
      act={() => revoke.mutate({ path: { key_id: keyId } })}
    />
  );
}
