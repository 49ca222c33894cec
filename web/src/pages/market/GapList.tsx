import { Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { momentText } from '../../charts/timeZone.ts';
import { useTimeZone } from '../../charts/useTimeZone.ts';
import { Failure, Loading } from '../../ui/states.tsx';
import type { useGaps } from './data.ts';

/** The untrusted times of the recording, with their causes. */
export function GapList({ known: { gaps, error, retry } }: { known: ReturnType<typeof useGaps> }): ReactNode {
  const [zone] = useTimeZone();
  const moment = (time: string) => momentText(Date.parse(time), zone);
  if (gaps === undefined) {
    return error === null ? <Loading rows={2} /> : <Failure error={error} retry={retry} />;
  }
  if (gaps.length === 0)
    return <Text size="sm">No gaps: every change of this market’s book is recorded and proven.</Text>;
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>From</Table.Th>
            <Table.Th>To</Table.Th>
            <Table.Th>Cause</Table.Th>
            <Table.Th>Feed</Table.Th>
            <Table.Th>Repaired by</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {gaps.map((gap) => (
            <Table.Tr key={gap.gap_id}>
              <Table.Td>{moment(gap.start)}</Table.Td>
              <Table.Td>{gap.end === null ? 'lasts' : moment(gap.end)}</Table.Td>
              <Table.Td>{gap.cause.replaceAll('_', ' ')}</Table.Td>
              <Table.Td>{gap.feed}</Table.Td>
              <Table.Td>{gap.repaired_by ?? '–'}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
