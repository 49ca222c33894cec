import { Anchor, Button, Group, Stack, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { Market } from '../../api/schema.ts';
import { ServiceNotices } from '../../live/ServiceNotices.tsx';
import { drawnTradesOf } from '../../trades/drawnTradesOf.ts';
import { Page } from '../../ui/Page.tsx';
import { Failure, Loading } from '../../ui/states.tsx';
import { BookAt } from './BookAt.tsx';
import { Downloads } from './Downloads.tsx';
import { useGaps } from './data.ts';
import { Facts } from './Facts.tsx';
import { GapList } from './GapList.tsx';
import { HeatMap } from './HeatMap.tsx';
import { MadeTrades, useMadeTrades } from './MadeTrades.tsx';
import { MidCharts } from './MidCharts.tsx';
import { TradesChart } from './TradesChart.tsx';

const route = getRouteApi('/shell/markets/$marketId');

const OPEN_REFETCH_MS = 15_000;

/** The whole recording of one market. */
export function MarketPage(): ReactNode {
  const { marketId } = route.useParams();
  const market = useApi(
    'GET /v1/markets/{market_id}',
    { path: { market_id: marketId } },
    { refetchMs: OPEN_REFETCH_MS },
  );
  if (market.isPending) return <Loading rows={10} />;
  if (market.isError) {
    return (
      <Page title="Market">
        <Failure error={market.error} retry={() => void market.refetch()} />
      </Page>
    );
  }
  return <Recorded market={market.data} />;
}

function Recorded({ market }: { market: Market }): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const made = useMadeTrades(market.market_id, search);
  const drawn = useMemo(() => made.trades && drawnTradesOf(made.trades, market), [made.trades, market]);
  const { gaps, bands } = useGaps(market);
  // Replaces the history entry: "back" leads to the list, not through every chosen time.
  const pick = (timeMs: number) =>
    void navigate({ search: { ...search, at: Math.round(timeMs) }, replace: true, resetScroll: false });
  return (
    <Page
      title={market.question}
      about={<code>{market.slug}</code>}
      actions={
        <>
          <Button
            variant="default"
            renderRoot={(props) => <a {...props} href={exportLink(market)} download />}
          >
            Points as JSON
          </Button>
          {market.polymarket_url === null ? null : (
            <Anchor href={market.polymarket_url} rel="noreferrer" target="_blank">
              On Polymarket
            </Anchor>
          )}
        </>
      }
    >
      <ServiceNotices meanwhile="newer data is not drawn yet" />
      <Facts market={market} />
      <Section
        title="Price of Up and the underlying"
        about="Click the chart to see the book at that moment. Red areas are gaps."
      >
        <MidCharts market={market} bands={bands} trades={drawn} onPick={pick} />
        <MadeTrades made={made} search={search} />
      </Section>
      <Section title="Order book at one time">
        <BookAt market={market} at={search.at ?? null} onPick={pick} />
      </Section>
      <Section title="Depth" about="Shares at each price of Up: bids in green, asks in red.">
        <HeatMap market={market} />
      </Section>
      <Section title="Trades">
        <TradesChart market={market} bands={bands} />
      </Section>
      <Section title="Gaps in the recording">
        <GapList gaps={gaps} />
      </Section>
      <Section title="The whole recording">
        <Downloads marketId={market.market_id} />
      </Section>
    </Page>
  );
}

function Section({
  title,
  about,
  children,
}: {
  title: string;
  about?: string;
  children: ReactNode;
}): ReactNode {
  return (
    <Stack className="card" p="md" gap="xs" component="section" aria-label={title}>
      <Group gap="sm" align="baseline">
        <Title order={2} size="h4">
          {title}
        </Title>
        {about !== undefined && (
          <Text size="sm" c="dimmed">
            {about}
          </Text>
        )}
      </Group>
      {children}
    </Stack>
  );
}

function exportLink({ market_id }: Market): string {
  return `/app/markets/${market_id}/timeseries?limit=10000`;
}
