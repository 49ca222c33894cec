import { Stack } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { call } from '../../api/client.ts';
import { listPollingMs } from '../../api/hooks.ts';
import type { AuditRows } from '../../api/schema.ts';
import { TableFrame } from '../../ui/frames.tsx';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { ShowOlder } from '../../ui/ShowOlder.tsx';
import { Empty } from '../../ui/states.tsx';
import { SignalTable } from './SignalTable.tsx';

const PAGE_SIZE = 50;
const REFETCH_MS = 15_000;

/** All recorded signals, newest first. */
export function History(): ReactNode {
  const list = useInfiniteQuery<AuditRows, Error, { pages: AuditRows[] }, unknown[], string | null>({
    queryKey: ['GET /v1/arb/audit', 'pages'],
    queryFn: ({ pageParam, signal }) =>
      call(
        'GET /v1/arb/audit',
        { query: { limit: PAGE_SIZE, ...(pageParam === null ? {} : { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: null,
    getNextPageParam: (page) => page.next_cursor,
    refetchInterval: ({ state }) => listPollingMs(state, REFETCH_MS),
  });
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <Stack>
      <div className="card">
        {list.isPending && <TableFrame columns={8} />}
        <RequestFailure of={list} />
        {list.isSuccess && rows.length === 0 && (
          <Empty title="No signals yet">
            The detectors watch every live market; new rows appear automatically.
          </Empty>
        )}
        {rows.length > 0 && <SignalTable label="Recorded signals" rows={rows} />}
      </div>
      <ShowOlder list={list} />
    </Stack>
  );
}
