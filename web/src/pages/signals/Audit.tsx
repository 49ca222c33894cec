import { SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { type ReactNode, useMemo, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { AuditAggregate, AuditRow } from '../../api/schema.ts';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { cents, moment, number, usd, WINDOW_NAMES } from '../../ui/format.ts';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { intervalOf } from './interval.ts';

const WINDOWS = [
  { value: '1h', label: '1 hour' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: 'all', label: 'All' },
];
/** Intervals use this many of the newest rows: the maximum of one answer. */
const ROWS_MAX = 1000;
type Window = AuditAggregate['window'];
type Bucket =
  | AuditAggregate['by_tier'][number]
  | AuditAggregate['by_ticker'][number]
  | AuditAggregate['by_event_type'][number];

/** Expected beside realised P&L. */
export function Audit(): ReactNode {
  const [window, setWindow] = useState<Window>('all');
  const sums = useApi('GET /v1/arb/audit/aggregate', { query: { window } }, { keep: true });
  const rows = useApi('GET /v1/arb/audit', { query: { window, limit: ROWS_MAX } }, { keep: true });
  return (
    <Stack>
      <SegmentedControl
        aria-label="Detected in the last"
        data={WINDOWS}
        value={window}
        onChange={(value) => setWindow(value as Window)}
        style={{ alignSelf: 'flex-start', maxWidth: '100%', overflowX: 'auto' }}
      />
      {sums.isPending && <Loading />}
      {sums.isError && <Failure error={sums.error} retry={() => void sums.refetch()} />}
      {sums.isSuccess &&
        (sums.data.overall.total === 0 ? (
          <div className="card">
            <Empty title="Nothing detected in this time">Choose a longer time.</Empty>
          </div>
        ) : (
          <Shown sums={sums.data} rows={rows.data?.rows ?? []} />
        ))}
    </Stack>
  );
}

function Shown({ sums, rows }: { sums: AuditAggregate; rows: readonly AuditRow[] }): ReactNode {
  const { overall } = sums;
  const figures: Figure[] = [
    ['Detected', number(overall.total)],
    ['Resolved', number(overall.resolved)],
    ['Expected per share', cents(overall.avg_model_ev)],
    ['Realised per share', cents(overall.avg_realized)],
    ['Realised in total', usd(overall.total_realized)],
    ['First', moment(overall.first_detection)],
  ];
  return (
    <>
      <Figures figures={figures} />
      <Buckets title="By kind" buckets={sums.by_tier} rows={rows} keyOf={(row) => row.tier} />
      <Buckets title="By underlying" buckets={sums.by_ticker} rows={rows} keyOf={(row) => row.ticker} />
      <Buckets title="By window" buckets={sums.by_event_type} rows={rows} keyOf={(row) => row.event_type} />
      <Text size="sm" c="dimmed">
        Intervals are 95 %, of the mean over the newest {ROWS_MAX.toLocaleString('en')} rows; a dash where
        fewer than two have resolved. Every statement is one entry of a chain of hashes, so any change or
        omission can be detected: <code>underround audit verify</code> checks the whole chain.
      </Text>
    </>
  );
}

function Buckets({
  title,
  buckets,
  rows,
  keyOf,
}: {
  title: string;
  buckets: readonly Bucket[];
  rows: readonly AuditRow[];
  keyOf: (row: AuditRow) => string;
}): ReactNode {
  const intervals = useMemo(
    () =>
      new Map(
        buckets.map(({ bucket }) => [
          bucket,
          intervalOf(realisedOf(rows.filter((row) => keyOf(row) === bucket))),
        ]),
      ),
    [buckets, rows, keyOf],
  );
  return (
    <div className="card">
      <Table.ScrollContainer minWidth={560}>
        <Table verticalSpacing={6}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{title}</Table.Th>
              <Table.Th ta="right">Detected</Table.Th>
              <Table.Th ta="right">Resolved</Table.Th>
              <Table.Th ta="right">Expected</Table.Th>
              <Table.Th ta="right">Realised</Table.Th>
              <Table.Th ta="right">95 % interval</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {buckets.map((bucket) => {
              const interval = intervals.get(bucket.bucket) ?? null;
              return (
                <Table.Tr key={bucket.bucket}>
                  <Table.Td>{WINDOW_NAMES[bucket.bucket] ?? bucket.bucket}</Table.Td>
                  <Table.Td ta="right">{bucket.total}</Table.Td>
                  <Table.Td ta="right">{bucket.resolved}</Table.Td>
                  <Table.Td ta="right">{cents(bucket.avg_model_ev)}</Table.Td>
                  <Table.Td ta="right">{cents(bucket.avg_realized)}</Table.Td>
                  <Table.Td ta="right">
                    {interval === null ? '–' : `${cents(interval.low)} to ${cents(interval.high)}`}
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </div>
  );
}

function realisedOf(rows: readonly AuditRow[]): number[] {
  return rows.map(({ realized_per_share }) => realized_per_share).filter((value) => value !== null);
}
