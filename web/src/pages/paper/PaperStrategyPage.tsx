import { Alert, Code, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { PaperStrategy } from '../../api/schema.ts';
import { TradesTable } from '../../trades/TradesTable.tsx';
import { POSITIONS_MAX, usePositions } from '../../trades/usePositions.ts';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { moment, number, usd, visibleName, WINDOW_NAMES } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { Activity } from './Activity.tsx';
import { Divergence } from './Divergence.tsx';
import { Equity } from './Equity.tsx';
import { PaperActions } from './PaperActions.tsx';

const route = getRouteApi('/shell/paper/$strategyId');
const REFETCH_MS = 4_000;

/** One paper strategy: its P&L beside that of its backtest. */
export function PaperStrategyPage(): ReactNode {
  const { strategyId } = route.useParams();
  const strategy = useApi(
    'GET /v1/paper/strategies/{strategy_id}',
    { path: { strategy_id: strategyId } },
    { refetchMs: REFETCH_MS },
  );
  if (strategy.isPending) return <Loading rows={8} />;
  const known = lastAnswer(strategy);
  if (known === undefined) {
    return (
      <Page title="Paper strategy">
        <RequestFailure of={strategy} />
      </Page>
    );
  }
  return (
    <>
      <RequestFailure of={strategy} />
      <Shown strategy={known} />
    </>
  );
}

function Shown({ strategy }: { strategy: PaperStrategy }): ReactNode {
  const { universe, open_positions: open, closed_positions: closed } = strategy;
  const figures: Figure[] = [
    ['Realised P&L', usd(strategy.net_pnl), 'of closed positions, after fees'],
    ['Open positions', number(open)],
    ['Closed positions', number(closed)],
    ['Size per trade', usd(strategy.size_usd)],
    ['Since, UTC', moment(strategy.created_at)],
  ];
  return (
    <Page
      title={visibleName(strategy.name, strategy.paper_strategy_id)}
      about={`${universe.ticker} ${WINDOW_NAMES[universe.event_type]}, traded on the live books`}
      actions={<PaperActions key={strategy.name} strategy={strategy} />}
    >
      <Activity isActive={strategy.active} />
      <Figures figures={figures} cols={{ base: 2, sm: 3, lg: 5 }} />
      <Section title="P&L against its baseline">
        <Equity strategy={strategy} />
      </Section>
      <Section title="Live against a backtest">
        <Divergence strategyId={strategy.paper_strategy_id} />
      </Section>
      <Section title="Positions">
        <Positions strategyId={strategy.paper_strategy_id} revision={`${open} ${closed}`} />
      </Section>
      <Section title="Strategy">
        <Code block tabIndex={0} aria-label="The strategy">
          {JSON.stringify({ strategy: strategy.strategy, universe, size_usd: strategy.size_usd }, null, 2)}
        </Code>
      </Section>
    </Page>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <Stack className="card" p="md" gap="sm" component="section" aria-label={title}>
      <Text component="h2" fw={600}>
        {title}
      </Text>
      {children}
    </Stack>
  );
}

/** Positions, newest first; reloaded when one was opened or closed. */
function Positions({ strategyId, revision }: { strategyId: string; revision: string }): ReactNode {
  const positions = usePositions(strategyId, revision);
  const known = lastAnswer(positions);
  const newest = useMemo(() => known?.positions.toReversed(), [known]);
  if (positions.isPending) return <Loading rows={3} />;
  return (
    <>
      <RequestFailure of={positions} />
      {known?.isCut === true && (
        <Alert
          color="orange"
          title={`The first ${number(POSITIONS_MAX)} positions are listed, not the later ones`}
        >
          <code>GET /v1/paper/strategies/{strategyId}/positions</code> has all of them.
        </Alert>
      )}
      {newest?.length === 0 && (
        <Empty title="Nothing bought yet">
          It buys when its condition is met in an open window. This page updates automatically.
        </Empty>
      )}
      {newest !== undefined && newest.length > 0 && (
        <TradesTable trades={newest} source={{ paper: strategyId }} name={strategyId} />
      )}
    </>
  );
}
