import { Stack, Table } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { call } from '../../api/client.ts';
import type { AuditRow, AuditRows } from '../../api/schema.ts';
import { cents, moment, WINDOW_NAMES } from '../../ui/format.ts';
import { ShowOlder } from '../../ui/ShowOlder.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Direction, KindBadge } from './KindBadge.tsx';

const PAGE_SIZE = 50;

/** All recorded detections, newest first. */
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
  });
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <Stack>
      <div className="card">
        {list.isPending && <Loading />}
        {list.isError && <Failure error={list.error} retry={() => void list.refetch()} />}
        {list.isSuccess && rows.length === 0 && (
          <Empty title="Nothing detected yet">
            The detectors watch every live market; new rows appear automatically.
          </Empty>
        )}
        {rows.length > 0 && <Rows rows={rows} />}
      </div>
      <ShowOlder list={list} />
    </Stack>
  );
}

function Rows({ rows }: { rows: readonly AuditRow[] }): ReactNode {
  return (
    <Table.ScrollContainer minWidth={960}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Detected</Table.Th>
            <Table.Th>Market</Table.Th>
            <Table.Th>Kind</Table.Th>
            <Table.Th>Action</Table.Th>
            <Table.Th ta="right">Price</Table.Th>
            <Table.Th ta="right">Expected</Table.Th>
            <Table.Th>Would have filled</Table.Th>
            <Table.Th ta="right">Realised</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={row.audit_id}>
              <Table.Td className="nowrap">{moment(row.detected_at)}</Table.Td>
              <Table.Td className="nowrap">
                <Link
                  to="/markets/$marketId"
                  params={{ marketId: row.market_id }}
                  search={{ at: Date.parse(row.detected_at) }}
                >
                  {row.ticker} {WINDOW_NAMES[row.event_type]}
                </Link>
              </Table.Td>
              <Table.Td>
                <KindBadge kind={row.tier} />
              </Table.Td>
              <Table.Td>
                <Direction direction={row.direction} />
              </Table.Td>
              <Table.Td ta="right">{cents(row.fill_price)}</Table.Td>
              <Table.Td ta="right">{cents(row.model_ev_per_share)}</Table.Td>
              <Table.Td className="nowrap">{executableText(row)}</Table.Td>
              <Table.Td ta="right">
                {row.realized_per_share === null ? 'open' : cents(row.realized_per_share)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** E.g. `+50 ms 95¢, +250 ms no`. */
function executableText({ executable }: AuditRow): string {
  if (executable.length === 0) return 'not known yet';
  return executable
    .map(({ after_ms, fill_price }) => `+${after_ms} ms ${fill_price === null ? 'no' : cents(fill_price)}`)
    .join(', ');
}
