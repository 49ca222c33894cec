import { Anchor, Button, Stack, Title } from '@mantine/core';
import { getRouteApi, lazyRouteComponent } from '@tanstack/react-router';
import { type ReactNode, Suspense, useCallback, useMemo } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { Market } from '../../api/schema.ts';
import { ServiceNotices } from '../../live/ServiceNotices.tsx';
import { useClockAhead } from '../../live/useServiceClock.ts';
import { drawnTradesOf } from '../../trades/drawnTradesOf.ts';
import { Page } from '../../ui/Page.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Loading } from '../../ui/states.tsx';
import { Downloads } from './Downloads.tsx';
import { isSettled, OPEN_REFETCH_MS, useGaps } from './data.ts';
import { Facts } from './Facts.tsx';
import { GapList } from './GapList.tsx';
import { MadeTrades, useMadeTrades } from './MadeTrades.tsx';

/** Points in one answer: the service's maximum. */
const EXPORTED_MAX = 10_000;

const route = getRouteApi('/shell/markets/$marketId');

/** Of its own file, loaded beside the market: the facts of a market need not wait for the code of the charts. */
const Recording = lazyRouteComponent(() => import('./Recording.tsx'), 'Recording');
void Recording.preload?.();

/** The whole recording of one market. */
export function MarketPage(): ReactNode {
  const { marketId } = route.useParams();
  const aheadMs = useClockAhead() ?? 0;
  const market = useApi(
    'GET /v1/markets/{market_id}',
    { path: { market_id: marketId } },
    { refetchMs: OPEN_REFETCH_MS, isFinal: (known) => isSettled(known, Date.now() + aheadMs) },
  );
  if (market.isPending) return <Loading rows={10} />;
  const known = lastAnswer(market);
  if (known === undefined) {
    return (
      <Page title="Market">
        <RequestFailure of={market} />
      </Page>
    );
  }
  return (
    <>
      <RequestFailure of={market} />
      <Recorded market={known} />
    </>
  );
}

function Recorded({ market }: { market: Market }): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const made = useMadeTrades(market.market_id, search);
  const drawn = useMemo(() => made.trades && drawnTradesOf(made.trades, market), [made.trades, market]);
  const known = useGaps(market);
  // Replaces the history entry: "back" leads to the list, not through every chosen time.
  const pick = useCallback(
    (timeMs: number) =>
      void navigate({
        search: (before) => ({ ...before, at: Math.round(timeMs) }),
        ...{ replace: true, resetScroll: false },
      }),
    [navigate],
  );
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
            First {EXPORTED_MAX.toLocaleString('en')} points as JSON
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
      <Suspense fallback={<Loading rows={10} />}>
        <Recording
          key={market.market_id}
          market={market}
          at={search.at ?? null}
          bands={known.bands}
          trades={drawn}
          onAt={pick}
        />
      </Suspense>
      <MadeTrades made={made} search={search} />
      <Section title="Gaps in the recording">
        <GapList known={known} />
      </Section>
      <Section title="The whole recording">
        <Downloads marketId={market.market_id} />
      </Section>
    </Page>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <Stack className="card" p="md" gap="xs" component="section" aria-label={title}>
      <Title order={2} size="h4">
        {title}
      </Title>
      {children}
    </Stack>
  );
}

function exportLink({ market_id }: Market): string {
  return `/app/markets/${market_id}/timeseries?limit=${EXPORTED_MAX}`;
}
