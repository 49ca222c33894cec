import { Code, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { Drift } from '../../api/schema.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { moment, number } from '../../ui/format.ts';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Loading } from '../../ui/states.tsx';

const REFETCH_MS = 30_000;
/** Most findings listed; the command prints all. */
const SHOWN = 20;

/** Where the venues differ from the formats that this version knows. */
export function VenueDrift(): ReactNode {
  const drift = useApi('GET /app/drift', {}, { refetchMs: REFETCH_MS });
  if (drift.isPending) return <Loading rows={2} />;
  const findings = lastAnswer(drift)?.findings ?? [];
  if (findings.length === 0) {
    return drift.isError ? (
      <RequestFailure of={drift} />
    ) : (
      <Text size="sm">No drift seen: every message has a known kind and known fields.</Text>
    );
  }
  return (
    <>
      <RequestFailure of={drift} />
      <Text size="sm">
        {number(findings.length)} differences from the known formats. <Code>underround doctor</Code> prints
        them all, and the frames that were set aside.
      </Text>
      <DataTable
        label="Venue drift"
        columns={COLUMNS}
        rows={findings.slice(0, SHOWN)}
        keyOf={({ category, feed, kind, key }) => `${category} ${feed} ${kind} ${key}`}
      />
    </>
  );
}

const COLUMNS: readonly Column<Drift['findings'][number]>[] = [
  { title: 'Feed', cell: ({ feed }) => feed },
  {
    title: 'Difference',
    isText: true,
    cell: ({ category, kind, key }) => `${category.replaceAll('_', ' ')}: ${kind} ${key}`,
  },
  { title: 'First seen, UTC', cell: ({ first_seen }) => moment(first_seen) },
  { title: 'Last seen, UTC', cell: ({ last_seen }) => moment(last_seen) },
  { title: 'Count', isNumber: true, cell: ({ count }) => number(count) },
  { title: 'Sample', isText: true, cell: ({ sample }) => sample ?? '–' },
];
