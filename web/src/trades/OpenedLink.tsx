import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { moment } from '../ui/format.ts';
import type { MadeTrade, TradeSource } from './source.ts';

/** When a trade was opened, linked to its market at that time with all trades of its source drawn. */
export function OpenedLink({
  trade: { market_id, opened_at },
  source,
}: {
  trade: Pick<MadeTrade, 'market_id' | 'opened_at'>;
  source: TradeSource;
}): ReactNode {
  return (
    <Link
      to="/markets/$marketId"
      params={{ marketId: market_id }}
      search={{ at: Date.parse(opened_at), ...source }}
    >
      {moment(opened_at)}
    </Link>
  );
}
