import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { AuditRow } from '../../api/schema.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { cents, moment, WINDOW_NAMES } from '../../ui/format.ts';
import { Signed } from '../../ui/Signed.tsx';
import { Direction, KindBadge } from './KindBadge.tsx';

const COLUMNS: readonly Column<AuditRow>[] = [
  { title: 'Detected', cell: ({ detected_at }) => moment(detected_at) },
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
    title: 'Expected',
    isNumber: true,
    cell: ({ model_ev_per_share }) => <Signed value={model_ev_per_share} format={cents} />,
  },
  { title: 'Would have filled', cell: executableText },
  {
    title: 'Realised',
    isNumber: true,
    cell: ({ realized_per_share }) =>
      realized_per_share === null ? 'open' : <Signed value={realized_per_share} format={cents} />,
  },
];

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
  const height = maxHeight === undefined ? {} : { maxHeight };
  return (
    <DataTable label={label} columns={COLUMNS} rows={rows} keyOf={({ audit_id }) => audit_id} {...height} />
  );
}

/** E.g. `+50 ms 95.0¢, +250 ms no`. */
function executableText({ executable }: AuditRow): string {
  if (executable.length === 0) return 'not known yet';
  return executable
    .map(({ after_ms, fill_price }) => `+${after_ms} ms ${fill_price === null ? 'no' : cents(fill_price)}`)
    .join(', ');
}
