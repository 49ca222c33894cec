import { NativeSelect, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { BacktestTrade } from '../../api/schema.ts';
import { drawnTradesOf } from '../../trades/drawnTradesOf.ts';
import { pnlText } from '../../trades/pnlText.ts';
import { moment } from '../../ui/format.ts';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { Loading } from '../../ui/states.tsx';
import { useGaps } from '../market/data.ts';
import { MidCharts } from '../market/MidCharts.tsx';

const route = getRouteApi('/shell/backtests/$jobId');

/** The price of one market, chosen by the reader, with the trades in it. */
export function TradedMarkets({
  trades,
  jobId,
}: {
  trades: readonly BacktestTrade[];
  jobId: string;
}): ReactNode {
  const { market } = route.useSearch();
  const navigate = route.useNavigate();
  const markets = useMemo(() => byMarket(trades), [trades]);
  const newest = [...markets.keys()].at(-1) ?? '';
  const shown = market !== undefined && markets.has(market) ? market : newest;
  return (
    <>
      <NativeSelect
        label="Market"
        maw={420}
        data={[...markets].reverse().map(([value, own]) => ({ value, label: nameOf(own) }))}
        value={shown}
        onChange={(event) =>
          void navigate({ search: { market: event.currentTarget.value }, replace: true, resetScroll: false })
        }
      />
      <Traded key={shown} marketId={shown} trades={markets.get(shown) ?? []} />
      <Text size="sm" c="dimmed">
        Triangles are purchases (up: Up, down: Down) at the price of Up. Rings are sales or payouts. Green is
        a gain, red a loss.{' '}
        <Link to="/markets/$marketId" params={{ marketId: shown }} search={{ backtest: jobId }}>
          Open the market with its book
        </Link>
      </Text>
    </>
  );
}

function Traded({ marketId, trades }: { marketId: string; trades: readonly BacktestTrade[] }): ReactNode {
  const market = useApi('GET /v1/markets/{market_id}', { path: { market_id: marketId } });
  if (market.isPending) return <Loading rows={8} />;
  if (market.data === undefined) return <RequestFailure of={market} />;
  return <Drawn market={market.data} trades={trades} />;
}

function Drawn({
  market,
  trades,
}: {
  market: Parameters<typeof useGaps>[0];
  trades: readonly BacktestTrade[];
}): ReactNode {
  const { bands } = useGaps(market);
  const drawn = useMemo(() => drawnTradesOf(trades, market), [trades, market]);
  return <MidCharts market={market} bands={bands} trades={drawn} />;
}

function byMarket(trades: readonly BacktestTrade[]): Map<string, BacktestTrade[]> {
  const markets = new Map<string, BacktestTrade[]>();
  for (const trade of trades) markets.set(trade.market_id, [...(markets.get(trade.market_id) ?? []), trade]);
  return markets;
}

function nameOf(trades: readonly BacktestTrade[]): string {
  return `${moment(trades[0]?.opened_at)} UTC: ${pnlText(trades)}`;
}
