import { Button, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import { useLimits } from '../../strategy/TierLimits.tsx';
import { TableFrame } from '../../ui/frames.tsx';
import { Page } from '../../ui/Page.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty } from '../../ui/states.tsx';
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
  const known = lastAnswer(list);
  const [isOpen, setOpen] = useOpenForm(known && known.count === 0);
  const isMaking = isOpen || from !== undefined;
  return (
    <Page
      title="Paper trading"
      about="Trade the live books with simulated money, with the same strategies, fills and fees as a backtest."
      actions={
        !isMaking && known !== undefined && <Button onClick={() => setOpen(true)}>New paper strategy</Button>
      }
    >
      {known !== undefined && isMaking && (
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
        <RequestFailure of={list} />
        {known?.count === 0 && (
          <Empty title="No paper strategies yet">
            Start the one above, or run a <Link to="/backtests">backtest</Link> and paper-trade its strategy.
          </Empty>
        )}
        {known !== undefined && known.count > 0 && <StrategyTable strategies={known.strategies} />}
      </div>
    </Page>
  );
}
