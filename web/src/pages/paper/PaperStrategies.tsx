import { Button, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import { useLimits } from '../../strategy/TierLimits.tsx';
import { TableFrame } from '../../ui/frames.tsx';
import { Page } from '../../ui/Page.tsx';
import { Empty, Failure } from '../../ui/states.tsx';
import { TierLock } from '../../ui/TierLock.tsx';
import { useOpenForm } from '../../ui/useOpenForm.ts';
import { NewPaperStrategy } from './NewPaperStrategy.tsx';
import { StrategyTable } from './StrategyTable.tsx';

const route = getRouteApi('/shell/paper');
const REFETCH_MS = 5_000;

/** Strategies that trade the live markets with simulated money. */
export function PaperStrategies(): ReactNode {
  const { from } = route.useSearch();
  const list = useApi('GET /v1/paper/strategies', {}, { refetchMs: REFETCH_MS });
  const limits = useLimits();
  const [isOpen, setOpen] = useOpenForm(list.data && list.data.count === 0);
  const isMaking = isOpen || from !== undefined;
  return (
    <Page
      title="Paper trading"
      about="Trade the live books with simulated money, with the same strategies, fills and fees as a backtest."
      actions={
        !isMaking && list.isSuccess && <Button onClick={() => setOpen(true)}>New paper strategy</Button>
      }
    >
      {list.isSuccess && isMaking && (
        <TierLock feature="paper_strategies" what="Paper strategies">
          {limits !== null && (
            <Text size="sm" c="dimmed" role="note">
              Tier {limits.tier}: up to {limits.own.paper_strategies} active paper strategies.
            </Text>
          )}
          <NewPaperStrategy from={from} />
        </TierLock>
      )}
      <div className="card">
        {list.isPending && <TableFrame columns={7} />}
        {list.isError && <Failure error={list.error} retry={() => void list.refetch()} />}
        {list.isSuccess && list.data.count === 0 && (
          <Empty title="No paper strategies yet">
            Start the one above, or run a <Link to="/backtests">backtest</Link> and paper-trade its strategy.
          </Empty>
        )}
        {list.isSuccess && list.data.count > 0 && <StrategyTable strategies={list.data.strategies} />}
      </div>
    </Page>
  );
}
