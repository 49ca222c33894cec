import { Stack, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AuditRow } from '../../api/schema.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { cents, moment, WINDOW_NAMES } from '../../ui/format.ts';
import { Signed } from '../../ui/Signed.tsx';
import { delaysOf, fillText } from './executableFills.ts';
import { Direction, KindBadge, KindLegend } from './KindBadge.tsx';

/** Columns up to the expected P&L. */
const DETECTED: readonly Column<AuditRow>[] = [
  { title: 'Detected, UTC', cell: ({ detected_at }) => moment(detected_at) },
  {
    title: 'Market',
    cell: ({ market_id, detected_at, ticker, event_type }) => (
      <Link to="/markets/$marketId" params={{ marketId: market_id }} search={{ at: Date.parse(detected_at) }}>
        {ticker} {WINDOW_NAMES[event_type]}
      </Link>
    ),
  },
  { title: 'Kind', cell: ({ tier }) => <KindBadge kind={tier} /> },
  { title: 'Action', cell: ({ direction }) => <Direction direction={direction} /> },
  { title: 'Price', isNumber: true, cell: ({ fill_price }) => cents(fill_price) },
  {
    title: 'Expected per share',
    isNumber: true,
    cell: ({ model_ev_per_share }) => <Signed value={model_ev_per_share} format={cents} />,
  },
];

const REALISED: Column<AuditRow> = {
  title: 'Realised per share',
  isNumber: true,
  cell: ({ realized_per_share }) =>
    realized_per_share === null ? 'open' : <Signed value={realized_per_share} format={cents} />,
};

/** One column for each delay after detection, so that prices are below each other. */
function columnsFor(delays: readonly number[]): readonly Column<AuditRow>[] {
  const fills = delays.map((afterMs) => ({
    ...{ title: `Fill at +${afterMs} ms`, isNumber: true },
    cell: (row: AuditRow) => fillText(row, afterMs),
  }));
  return [...DETECTED, ...fills, REALISED];
}

/** Recorded signals, expected beside realised P&L per share. */
export function SignalTable({
  label,
  rows,
  maxHeight,
}: {
  label: string;
  rows: readonly AuditRow[];
  /** Pixels; a longer table scrolls below its fixed head. */
  maxHeight?: number;
}): ReactNode {
  const delays = delaysOf(rows);
  const height = maxHeight === undefined ? {} : { maxHeight };
  return (
    <>
      <DataTable
        label={label}
        columns={columnsFor(delays)}
        rows={rows}
        keyOf={({ audit_id }) => audit_id}
        {...height}
      />
      <Stack gap={2} px={12} py="xs">
        <KindLegend kinds={rows.map(({ tier }) => tier)} />
        {delays.length > 0 && (
          <Text size="sm" c="dimmed">
            <b>Fill at +{delays[0]} ms</b>: the price that the signal’s order would have paid so long after
            detection; no fill: nothing was left at its price, or the book was not proven.
          </Text>
        )}
      </Stack>
    </>
  );
}
