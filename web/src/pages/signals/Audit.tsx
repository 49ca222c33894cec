import { Stack, Text } from '@mantine/core';
import { type ReactNode, useMemo, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { AuditAggregate, AuditRow } from '../../api/schema.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { cents, type Maybe, moment, number, usd, WINDOW_NAMES } from '../../ui/format.ts';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Signed } from '../../ui/Signed.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { WrappingChoice } from '../../ui/WrappingChoice.tsx';
import { intervalOf, MARKETS_MIN } from './interval.ts';
import { KindLegend } from './KindBadge.tsx';

const WINDOWS = [
  { value: '1h', label: '1 hour' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
  { value: 'all', label: 'All' },
] as const;
/** Intervals use this many of the newest rows: the maximum of one answer. */
const ROWS_MAX = 1000;
const POLLED = { refetchMs: 60_000, keep: true } as const;
type Window = AuditAggregate['window'];
type Bucket =
  | AuditAggregate['by_tier'][number]
  | AuditAggregate['by_ticker'][number]
  | AuditAggregate['by_event_type'][number];

/** Expected beside realised P&L. */
export function Audit(): ReactNode {
  const [window, setWindow] = useState<Window>('all');
  const sums = useApi('GET /v1/arb/audit/aggregate', { query: { window } }, POLLED);
  const rows = useApi('GET /v1/arb/audit', { query: { window, limit: ROWS_MAX } }, POLLED);
  const known = lastAnswer(sums);
  return (
    <Stack>
      <WrappingChoice label="Detected in the last" items={WINDOWS} value={window} choose={setWindow} />
      {sums.isPending && <Loading />}
      <RequestFailure of={sums} />
      <RequestFailure of={rows} />
      {known !== undefined &&
        (known.overall.total === 0 ? (
          <div className="card">
            <Empty title="Nothing detected in this time">Choose a longer time.</Empty>
          </div>
        ) : (
          <Shown sums={known} rows={rows.data?.rows ?? []} />
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
    ['Realised in total', usd(overall.total_realized), 'one share of each signal'],
    ['First, UTC', moment(overall.first_detection)],
  ];
  return (
    <>
      <Figures figures={figures} />
      <Buckets title="By kind" buckets={sums.by_tier} rows={rows} keyOf={(row) => row.tier} />
      <Buckets title="By underlying" buckets={sums.by_ticker} rows={rows} keyOf={(row) => row.ticker} />
      <Buckets title="By window" buckets={sums.by_event_type} rows={rows} keyOf={(row) => row.event_type} />
      <Stack gap={2}>
        <KindLegend kinds={sums.by_tier.map(({ bucket }) => bucket)} />
      </Stack>
      <Text size="sm" c="dimmed">
        Intervals are 95 %, of the mean over the newest {ROWS_MAX.toLocaleString('en')} rows. Signals of one
        market share its result, so they count as one observation; below {MARKETS_MIN} resolved markets there
        is a dash. Every signal and every result is one entry of a chain of hashes, so any change or omission
        can be detected: <code>underround audit verify</code> checks the whole chain.
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
  const lines = useMemo(
    () =>
      buckets.map(
        (bucket): Line => ({
          ...bucket,
          interval: intervalOf(rows.filter((row) => keyOf(row) === bucket.bucket)),
        }),
      ),
    [buckets, rows, keyOf],
  );
  return (
    <div className="card">
      <DataTable label={title} columns={columnsOf(title)} rows={lines} keyOf={({ bucket }) => bucket} />
    </div>
  );
}

type Line = Bucket & { readonly interval: ReturnType<typeof intervalOf> };

const signedCents = (value: Maybe) => <Signed value={value} format={(one) => cents(one)} />;

function columnsOf(title: string): readonly Column<Line>[] {
  return [
    { title, cell: ({ bucket }) => WINDOW_NAMES[bucket] ?? bucket },
    { title: 'Detected', isNumber: true, cell: ({ total }) => number(total) },
    { title: 'Resolved', isNumber: true, cell: ({ resolved }) => number(resolved) },
    {
      title: 'Expected per share',
      isNumber: true,
      cell: ({ avg_model_ev }) => signedCents(avg_model_ev),
    },
    {
      title: 'Realised per share',
      isNumber: true,
      cell: ({ avg_realized }) => signedCents(avg_realized),
    },
    { title: '95 % from', isNumber: true, cell: ({ interval }) => signedCents(interval?.low) },
    { title: '95 % to', isNumber: true, cell: ({ interval }) => signedCents(interval?.high) },
  ];
}
