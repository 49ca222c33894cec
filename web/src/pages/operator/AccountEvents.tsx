import { Button, Group, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { AccountEventList } from '../../api/schema.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { moment } from '../../ui/format.ts';
import { TableFrame } from '../../ui/frames.tsx';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty } from '../../ui/states.tsx';

const PAGE_SIZE = 25;

/** Sign-ins, sign-ups and operators' actions, newest first. */
export function AccountEvents(): ReactNode {
  // Cursors of the previous pages and of this one; the newest page has none.
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const query = { limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) };
  const page = useApi('GET /app/operator/events', { query }, { keep: true });
  if (page.isPending) return <TableFrame rows={5} columns={6} />;
  if (page.data === undefined) return <RequestFailure of={page} />;
  const { events, next_cursor } = page.data;
  if (events.length === 0) return <Empty title="No events yet">Sign-ins and changes appear here.</Empty>;
  return (
    <>
      <RequestFailure of={page} />
      <DataTable label="Account events" columns={COLUMNS} rows={events} keyOf={({ event_id }) => event_id} />
      <Group>
        <Button
          size="xs"
          variant="default"
          disabled={cursors.length === 0}
          onClick={() => setCursors(cursors.slice(0, -1))}
        >
          Newer
        </Button>
        <Button
          size="xs"
          variant="default"
          disabled={next_cursor === null}
          onClick={() => next_cursor !== null && setCursors([...cursors, next_cursor])}
        >
          Older
        </Button>
        <Text size="sm" c="dimmed">
          Kept for 90 days
        </Text>
      </Group>
    </>
  );
}

const COLUMNS: readonly Column<AccountEventList['events'][number]>[] = [
  { title: 'Time, UTC', cell: ({ at }) => moment(at) },
  {
    title: 'Event',
    isText: true,
    cell: ({ action, detail }) => `${action.replaceAll('_', ' ')} ${detail ?? ''}`,
  },
  { title: 'Account', isText: true, cell: ({ email }) => email ?? '–' },
  { title: 'By', isText: true, cell: ({ actor }) => actor ?? '–' },
  { title: 'Address', cell: ({ address }) => address ?? '–' },
  {
    title: 'Result',
    isText: true,
    cell: ({ reason }) => (
      <Text span inherit {...(reason === null ? {} : { fw: 600 })}>
        {reason === null ? 'done' : `refused: ${reason}`}
      </Text>
    ),
  },
];
