import { Badge, Button, Table } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { PaperStrategyList } from '../../api/schema.ts';
import { STRATEGY_NAMES } from '../../strategy/strategies.ts';
import { moment, usd, WINDOW_NAMES } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { NewPaperStrategy } from './NewPaperStrategy.tsx';

const route = getRouteApi('/shell/paper');
const REFETCH_MS = 5_000;

/** Strategies that trade the live markets with simulated money. */
export function PaperStrategies(): ReactNode {
  const { from } = route.useSearch();
  const list = useApi('GET /v1/paper/strategies', {}, { refetchMs: REFETCH_MS });
  const [isOpen, setOpen] = useState(false);
  const isMaking = isOpen || from !== undefined || list.data?.count === 0;
  return (
    <Page
      title="Paper trading"
      about="Trade the live books with simulated money, with the same strategies, fills and fees as a backtest."
      actions={
        !isMaking && list.isSuccess && <Button onClick={() => setOpen(true)}>New paper strategy</Button>
      }
    >
      {list.isSuccess && isMaking && <NewPaperStrategy from={from} />}
      <div className="card">
        {list.isPending && <Loading />}
        {list.isError && <Failure error={list.error} retry={() => void list.refetch()} />}
        {list.isSuccess && list.data.count === 0 && (
          <Empty title="No paper strategies yet">
            Start the one above, or run a <Link to="/backtests">backtest</Link> and paper-trade its strategy.
          </Empty>
        )}
        {list.isSuccess && list.data.count > 0 && <Strategies strategies={list.data.strategies} />}
      </div>
    </Page>
  );
}

function Strategies({ strategies }: Pick<PaperStrategyList, 'strategies'>): ReactNode {
  return (
    <Table.ScrollContainer minWidth={760}>
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Name</Table.Th>
            <Table.Th>Markets</Table.Th>
            <Table.Th>Strategy</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th ta="right">Open</Table.Th>
            <Table.Th ta="right">Closed</Table.Th>
            <Table.Th ta="right">P&L after fees</Table.Th>
            <Table.Th>Since</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {strategies.toReversed().map((one) => (
            <Table.Tr key={one.paper_strategy_id}>
              <Table.Td>
                <Link to="/paper/$strategyId" params={{ strategyId: one.paper_strategy_id }}>
                  {one.name}
                </Link>
              </Table.Td>
              <Table.Td className="nowrap">
                {one.universe.ticker} {WINDOW_NAMES[one.universe.event_type]}
              </Table.Td>
              <Table.Td>{STRATEGY_NAMES[one.strategy.type]}</Table.Td>
              <Table.Td>
                <Activity isActive={one.active} />
              </Table.Td>
              <Table.Td ta="right">{one.open_positions}</Table.Td>
              <Table.Td ta="right">{one.closed_positions}</Table.Td>
              <Table.Td ta="right" className={one.net_pnl >= 0 ? 'up' : 'down'}>
                {usd(one.net_pnl)}
              </Table.Td>
              <Table.Td className="nowrap">{moment(one.created_at)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

export function Activity({ isActive }: { isActive: boolean }): ReactNode {
  return <Badge color={isActive ? 'teal.9' : 'gray.7'}>{isActive ? 'trading' : 'paused'}</Badge>;
}
