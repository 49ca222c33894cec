import { Alert, Group, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import { pnlText } from '../../trades/pnlText.ts';
import type { MadeTrade } from '../../trades/source.ts';
import { POSITIONS_MAX, usePositions } from '../../trades/usePositions.ts';
import { number } from '../../ui/format.ts';
import type { MarketSearch } from './data.ts';

interface Made {
  /** Undefined if none were requested or they are still loading. */
  readonly trades: readonly MadeTrade[] | undefined;
  /** Of a paper strategy with more positions than a page loads: its later trades are missing. */
  readonly isCut: boolean;
  readonly error: Error | null;
}

/** Trades in this market of the backtest or paper strategy named in the address. */
export function useMadeTrades(marketId: string, { backtest, paper }: MarketSearch): Made {
  const job = useApi(
    'GET /v1/backtest/{job_id}',
    { path: { job_id: backtest ?? '' } },
    { enabled: backtest !== undefined },
  );
  const positions = usePositions(paper);
  const result = job.data?.result;
  return useMemo(() => {
    const replayed = result && 'trades' in result ? result.trades : undefined;
    const all = paper === undefined ? replayed : positions.data?.positions;
    return {
      trades: all?.filter((trade) => trade.market_id === marketId),
      isCut: paper !== undefined && positions.data?.isCut === true,
      error: (paper === undefined ? job.error : positions.error) ?? null,
    };
  }, [marketId, paper, result, job.error, positions.data, positions.error]);
}

/** Names the source of the drawn trades, with a button that removes them. */
export function MadeTrades({ made, search }: { made: Made; search: MarketSearch }): ReactNode {
  const { at, backtest, paper } = search;
  if (backtest === undefined && paper === undefined) return null;
  if (made.error !== null) {
    return <Alert color="orange" role="alert" title={`The trades cannot be loaded: ${made.error.message}`} />;
  }
  if (made.trades === undefined) return null;
  return (
    <Group gap="sm">
      <Text size="sm">
        Drawn: {made.trades.length === 0 ? 'no trade in this market' : pnlText(made.trades)} of{' '}
        {paper === undefined ? (
          <Link to="/backtests/$jobId" params={{ jobId: backtest ?? '' }}>
            the backtest
          </Link>
        ) : (
          <Link to="/paper/$strategyId" params={{ strategyId: paper }}>
            the paper strategy
          </Link>
        )}
        .{made.isCut && ` Only its first ${number(POSITIONS_MAX)} positions were searched.`} Triangles are
        purchases (up: Up, down: Down); rings are sales or payouts.
      </Text>
      <Link to="." search={{ at }} replace resetScroll={false}>
        Hide trades
      </Link>
    </Group>
  );
}
