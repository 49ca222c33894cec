import { Button, Group, Table } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { cents, moment, shares, usd } from '../ui/format.ts';
import type { MadeTrade, TradeSource } from './source.ts';

/** Rows shown at first, and added by each "Show older". */
const STEP = 100;

/** A table of trades; the time of a trade links to its market with all trades drawn. */
export function TradesTable({
  trades,
  source,
}: {
  trades: readonly MadeTrade[];
  source: TradeSource;
}): ReactNode {
  const [shown, setShown] = useState(STEP);
  return (
    <>
      <Table.ScrollContainer minWidth={1060}>
        <Table verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Decided</Table.Th>
              <Table.Th>Opened</Table.Th>
              <Table.Th>Closed</Table.Th>
              <Table.Th>Bought</Table.Th>
              <Table.Th ta="right">Entry price</Table.Th>
              <Table.Th ta="right">Slippage</Table.Th>
              <Table.Th ta="right">Shares</Table.Th>
              <Table.Th ta="right">Exit price</Table.Th>
              <Table.Th ta="right">Slippage</Table.Th>
              <Table.Th>Exit reason</Table.Th>
              <Table.Th ta="right">P&L</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {trades.slice(0, shown).map((trade) => (
              <Row key={`${trade.market_id} ${trade.opened_at}`} trade={trade} source={source} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {shown < trades.length && (
        <Group justify="center">
          <Button variant="default" onClick={() => setShown(shown + STEP)}>
            Show older
          </Button>
        </Group>
      )}
    </>
  );
}

function Row({ trade, source }: { trade: MadeTrade; source: TradeSource }): ReactNode {
  return (
    <Table.Tr>
      <Table.Td className="nowrap">{moment(trade.decided_at)}</Table.Td>
      <Table.Td className="nowrap">
        <Link
          to="/markets/$marketId"
          params={{ marketId: trade.market_id }}
          search={{ at: Date.parse(trade.opened_at), ...source }}
        >
          {moment(trade.opened_at)}
        </Link>
      </Table.Td>
      <Table.Td className="nowrap">{trade.closed_at === null ? 'held' : moment(trade.closed_at)}</Table.Td>
      <Table.Td>{trade.side === 'buy_yes' ? 'Up' : 'Down'}</Table.Td>
      <Table.Td ta="right">{cents(trade.entry_price)}</Table.Td>
      <Table.Td ta="right">{cents(trade.slippage)}</Table.Td>
      <Table.Td ta="right">{shares(trade.shares)}</Table.Td>
      <Table.Td ta="right">{cents(trade.exit_price)}</Table.Td>
      <Table.Td ta="right">{cents(trade.exit_slippage)}</Table.Td>
      <Table.Td>{trade.exit_reason?.replaceAll('_', ' ') ?? 'open'}</Table.Td>
      <Table.Td ta="right" className={(trade.net_pnl ?? 0) >= 0 ? 'up' : 'down'}>
        {usd(trade.net_pnl)}
      </Table.Td>
    </Table.Tr>
  );
}
