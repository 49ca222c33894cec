import { Text } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { PaperDivergence } from '../../api/schema.ts';
import { OpenedLink } from '../../trades/OpenedLink.tsx';
import type { MadeTrade } from '../../trades/source.ts';
import { usePositions } from '../../trades/usePositions.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { type Maybe, number, usd } from '../../ui/format.ts';
import { Signed } from '../../ui/Signed.tsx';
import { Empty } from '../../ui/states.tsx';

type Difference = PaperDivergence['differing'][number];

/** Most positions listed. */
const LISTED_MAX = 200;
/** Labels of the members that can differ between two positions opened in the same market at the same time. */
const FIGURES = {
  side: 'side',
  entry_price: 'entry price',
  shares: 'shares',
  size_usd: 'spent',
  fees_usd: 'fees',
  decision_price: 'decision price',
  entry_slippage: 'entry slippage',
  exit_slippage: 'exit slippage',
  closed_at: 'closed',
  exit_price: 'exit price',
  exit_reason: 'exit reason',
  outcome: 'outcome',
  net_pnl: 'P&L',
} as const satisfies Partial<Record<keyof MadeTrade, string>>;

/** Positions that differ between live trading and the replay of the same windows. */
export function Differences({
  report,
  strategyId,
}: {
  report: PaperDivergence;
  strategyId: string;
}): ReactNode {
  const { same, differing } = report;
  const details = useDetails(report, strategyId);
  const alike = same === 1 ? 'One position is' : `${number(same)} positions are`;
  if (differing.length === 0) {
    return (
      <Empty title="Nothing differs">
        {same === 0 ? 'Neither bought anything in these windows.' : `${alike} alike in every figure.`}
      </Empty>
    );
  }
  return (
    <>
      <Text size="sm">
        {alike} alike in every figure, {differing.length} {differing.length === 1 ? 'differs' : 'differ'}.
      </Text>
      <DataTable
        label="Differing positions"
        columns={columnsOf(details, strategyId)}
        rows={differing.slice(0, LISTED_MAX)}
        keyOf={placeOf}
      />
    </>
  );
}

function columnsOf(details: ReadonlyMap<string, string>, strategyId: string): readonly Column<Difference>[] {
  return [
    {
      title: 'Opened, UTC',
      cell: (one) => <OpenedLink trade={one} source={{ paper: strategyId }} />,
    },
    { title: 'P&L live', isNumber: true, cell: ({ live_net_pnl }) => signedUsd(live_net_pnl) },
    {
      title: 'P&L in the replay',
      isNumber: true,
      cell: ({ backtest_net_pnl }) => signedUsd(backtest_net_pnl),
    },
    {
      title: 'Differences, live / replay',
      isText: true,
      cell: (one) => textOf(one, details.get(placeOf(one))),
    },
  ];
}

const signedUsd = (value: Maybe) => <Signed value={value} format={(one) => usd(one)} />;

function placeOf({ market_id, opened_at }: { market_id: string; opened_at: string }): string {
  return `${market_id} ${opened_at}`;
}

function textOf({ found_in }: Difference, detail: string | undefined): string {
  if (found_in === 'live') return 'bought only live';
  if (found_in === 'backtest') return 'bought only in the replay';
  return detail ?? 'some figure';
}

/** The differing figures of positions that both have; the report names only the position. */
function useDetails(report: PaperDivergence, strategyId: string): ReadonlyMap<string, string> {
  const { differing, window } = report;
  const isInBoth = differing.some(({ found_in }) => found_in === 'both');
  const positions = usePositions(isInBoth ? strategyId : undefined, report.to);
  const job = useApi(
    'GET /v1/backtest/{job_id}',
    { path: { job_id: window?.backtest_id ?? '' } },
    { enabled: isInBoth && window !== null },
  );
  const result = job.data?.result;
  return useMemo(() => {
    const replayed = result && 'trades' in result ? result.trades : [];
    const other = new Map(replayed.map((trade) => [placeOf(trade), trade]));
    const details = new Map<string, string>();
    for (const own of positions.data?.positions ?? []) {
      const trade = other.get(placeOf(own));
      if (trade !== undefined) details.set(placeOf(own), differencesOf(own, trade));
    }
    return details;
  }, [positions.data, result]);
}

/** E.g. `closed 12:00:01 / 12:00:02, fees 0.1 / 0.2`. */
function differencesOf(live: MadeTrade, replayed: MadeTrade): string {
  const names = (Object.keys(FIGURES) as (keyof typeof FIGURES)[]).filter(
    (name) => live[name] !== replayed[name],
  );
  return names.map((name) => `${FIGURES[name]} ${live[name] ?? '–'} / ${replayed[name] ?? '–'}`).join(', ');
}
