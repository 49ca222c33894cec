import { Button, Group, Table, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import { moment } from '../../ui/format.ts';
import { Empty, Failure, Loading } from '../../ui/states.tsx';

const PAGE_SIZE = 25;

/** Sign-ins, sign-ups and operators' actions, newest first. */
export function AccountEvents(): ReactNode {
  // Cursors of the previous pages and of this one; the newest page has none.
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const cursor = cursors.at(-1);
  const query = { limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) };
  const page = useApi('GET /app/operator/events', { query }, { keep: true });
  if (page.isPending) return <Loading rows={4} />;
  if (page.isError) return <Failure error={page.error} retry={() => void page.refetch()} />;
  const { events, next_cursor } = page.data;
  if (events.length === 0) return <Empty title="Nothing yet">Sign-ins and changes appear here.</Empty>;
  return (
    <>
      <Table.ScrollContainer minWidth={760}>
        <Table verticalSpacing={4} aria-label="Account events">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Time</Table.Th>
              <Table.Th>Event</Table.Th>
              <Table.Th>Account</Table.Th>
              <Table.Th>By</Table.Th>
              <Table.Th>Address</Table.Th>
              <Table.Th>Result</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {events.map((event) => (
              <Table.Tr key={event.event_id}>
                <Table.Td className="nowrap">{moment(event.at)}</Table.Td>
                <Table.Td className="nowrap">
                  {event.action.replaceAll('_', ' ')} {event.detail}
                </Table.Td>
                <Table.Td>{event.email ?? '–'}</Table.Td>
                <Table.Td>{event.actor ?? '–'}</Table.Td>
                <Table.Td>{event.address ?? '–'}</Table.Td>
                <Table.Td {...(event.reason === null ? {} : { fw: 600 })}>
                  {event.reason === null ? 'done' : `refused: ${event.reason}`}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
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
