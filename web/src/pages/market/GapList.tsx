import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Gap } from '../../api/schema.ts';
import { momentText, type TimeZone } from '../../charts/timeZone.ts';
import { useTimeZone } from '../../charts/useTimeZone.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { Loading } from '../../ui/states.tsx';
import type { useGaps } from './data.ts';

/** The untrusted times of the recording, with their causes. */
export function GapList({ known: { gaps, request } }: { known: ReturnType<typeof useGaps> }): ReactNode {
  const [zone] = useTimeZone();
  if (request.isPending) return <Loading rows={2} />;
  return (
    <>
      <RequestFailure of={request} />
      {gaps?.length === 0 && !request.isError && (
        <Text size="sm">No gaps: every change of this market’s book is recorded and proven.</Text>
      )}
      {gaps !== undefined && gaps.length > 0 && (
        <DataTable label="Gaps" columns={columnsOf(zone)} rows={gaps} keyOf={({ gap_id }) => gap_id} />
      )}
    </>
  );
}

function columnsOf(zone: TimeZone): readonly Column<Gap>[] {
  const moment = (time: string) => momentText(Date.parse(time), zone);
  return [
    { title: 'From', cell: ({ start }) => moment(start) },
    { title: 'To', cell: ({ end }) => (end === null ? 'lasts' : moment(end)) },
    { title: 'Cause', cell: ({ cause }) => cause.replaceAll('_', ' ') },
    { title: 'Feed', cell: ({ feed }) => feed },
    { title: 'Repaired by', cell: ({ repaired_by }) => repaired_by ?? '–' },
  ];
}
