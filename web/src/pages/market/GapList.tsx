import { Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Gap } from '../../api/schema.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { moment } from '../../ui/format.ts';

/** The untrusted times of the recording, with their causes. */
export function GapList({ gaps }: { gaps: readonly Gap[] }): ReactNode {
  if (gaps.length === 0)
    return <Text size="sm">No gaps: every change of this market’s book is recorded and proven.</Text>;
  return <DataTable label="Gaps" columns={COLUMNS} rows={gaps} keyOf={({ gap_id }) => gap_id} />;
}

const COLUMNS: readonly Column<Gap>[] = [
  { title: 'From', cell: ({ start }) => moment(start) },
  { title: 'To', cell: ({ end }) => (end === null ? 'lasts' : moment(end)) },
  { title: 'Cause', cell: ({ cause }) => cause.replaceAll('_', ' ') },
  { title: 'Feed', cell: ({ feed }) => feed },
  { title: 'Repaired by', cell: ({ repaired_by }) => repaired_by ?? '–' },
];
