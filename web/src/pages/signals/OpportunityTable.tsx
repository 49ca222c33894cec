import { Stack } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { LiveOpportunity } from '../../api/schema.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { cents, countdown, percent, shares, WINDOW_NAMES } from '../../ui/format.ts';
import { Signed } from '../../ui/Signed.tsx';
import { Direction, KindBadge, KindLegend } from './KindBadge.tsx';

/** Open opportunities. @param now Unix ms, for the time left. */
export function OpportunityTable({
  rows,
  now,
}: {
  rows: readonly LiveOpportunity[];
  now: number;
}): ReactNode {
  const columns: readonly Column<LiveOpportunity>[] = [
    {
      title: 'Market',
      cell: ({ market_id, ticker, event_type }) => (
        <Link to="/markets/$marketId" params={{ marketId: market_id }}>
          {ticker} {WINDOW_NAMES[event_type]}
        </Link>
      ),
    },
    { title: 'Kind', cell: ({ tier }) => <KindBadge kind={tier} /> },
    { title: 'Action', cell: ({ direction }) => <Direction direction={direction} /> },
    { title: 'Price', isNumber: true, cell: ({ fill_price }) => cents(fill_price) },
    {
      title: 'Edge per share',
      isNumber: true,
      cell: ({ edge_per_share }) => <Signed value={edge_per_share} format={cents} />,
    },
    { title: 'Shares', isNumber: true, cell: ({ available_size }) => shares(available_size) },
    { title: 'Model, Up', isNumber: true, cell: ({ model_yes_prob }) => percent(model_yes_prob) },
    { title: 'Market, Up', isNumber: true, cell: ({ market_yes_mid }) => percent(market_yes_mid) },
    {
      title: 'Time left',
      isNumber: true,
      cell: ({ resolution_at }) => countdown(Date.parse(resolution_at) - now),
    },
  ];
  return (
    <>
      <DataTable
        label="Open opportunities"
        columns={columns}
        rows={rows}
        keyOf={({ market_id, tier }) => `${market_id} ${tier}`}
      />
      <Stack gap={2} px={12} py="xs">
        <KindLegend kinds={rows.map(({ tier }) => tier)} />
      </Stack>
    </>
  );
}
