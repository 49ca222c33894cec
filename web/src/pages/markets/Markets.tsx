import { Select } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { EventType } from '../../../../src/schema/market.ts';
import { type Ticker, useAssets } from '../../api/assets.ts';
import { call } from '../../api/client.ts';
import { listPollingMs } from '../../api/hooks.ts';
import type { Market, MarketList } from '../../api/schema.ts';
import { useServiceTime } from '../../live/useServiceClock.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { moment, WINDOW_CHOICES, WINDOW_NAMES } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { ShowOlder } from '../../ui/ShowOlder.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { closeText, coverageText, strikeText } from './marketText.ts';
import { Outcome } from './Outcome.tsx';

const route = getRouteApi('/shell/markets');
const PAGE_SIZE = 50;
const REFETCH_MS = 15_000;

export interface MarketsSearch {
  readonly ticker?: Ticker | undefined;
  readonly event_type?: EventType | undefined;
  readonly status?: 'open' | 'closed' | 'resolved' | undefined;
}

/** Every recorded market, newest first. */
export function Markets(): ReactNode {
  const search = route.useSearch();
  const list = useInfiniteQuery<MarketList, Error, { pages: MarketList[] }, unknown[], string | null>({
    queryKey: ['GET /v1/markets', 'pages', search],
    queryFn: ({ pageParam, signal }) =>
      call(
        'GET /v1/markets',
        { query: { ...search, limit: PAGE_SIZE, ...(pageParam === null ? {} : { cursor: pageParam }) } },
        signal,
      ),
    initialPageParam: null,
    getNextPageParam: (page) => page.next_cursor,
    // Windows begin, end and resolve while the page is open.
    refetchInterval: ({ state }) => listPollingMs(state, REFETCH_MS),
  });
  const markets = list.data?.pages.flatMap((page) => page.markets) ?? [];
  return (
    <Page title="Markets" about="Newest end first." actions={<Filters search={search} />}>
      <div className="card">
        {list.isPending && <Loading rows={10} />}
        <RequestFailure of={list} />
        {list.isSuccess && markets.length === 0 && (
          <Empty title="No market matches">
            Widen the filters. A service that has just started finds its first markets within a minute.
          </Empty>
        )}
        {markets.length > 0 && <MarketTable markets={markets} />}
      </div>
      <ShowOlder list={list} />
    </Page>
  );
}

function Filters({ search }: { search: MarketsSearch }): ReactNode {
  const navigate = route.useNavigate();
  const assets = useAssets();
  const set = (name: keyof MarketsSearch) => (value: string | null) =>
    void navigate({ search: (before) => ({ ...before, [name]: value ?? undefined }) });
  return (
    <>
      <Select
        aria-label="Underlying"
        placeholder="All underlyings"
        clearable
        w={180}
        data={[...assets]}
        value={search.ticker ?? null}
        onChange={set('ticker')}
      />
      <Select
        aria-label="Window"
        placeholder="All windows"
        clearable
        w={150}
        data={WINDOW_CHOICES}
        value={search.event_type ?? null}
        onChange={set('event_type')}
      />
      <Select
        aria-label="State"
        placeholder="Any state"
        clearable
        w={130}
        data={['open', 'closed', 'resolved']}
        value={search.status ?? null}
        onChange={set('status')}
      />
    </>
  );
}

function MarketTable({ markets }: { markets: readonly Market[] }): ReactNode {
  return (
    <DataTable
      label="Markets"
      columns={columnsAt(useServiceTime())}
      rows={markets}
      keyOf={({ market_id }) => market_id}
    />
  );
}

function columnsAt(nowMs: number): readonly Column<Market>[] {
  return [
    {
      title: 'Market',
      isText: true,
      cell: ({ market_id, question }) => (
        <Link to="/markets/$marketId" params={{ marketId: market_id }}>
          {question}
        </Link>
      ),
    },
    { title: 'Window', cell: ({ ticker, market_type }) => `${ticker} ${WINDOW_NAMES[market_type]}` },
    { title: 'Ends, UTC', cell: ({ end_time }) => moment(end_time) },
    { title: 'Strike', isNumber: true, cell: (market) => strikeText(market, nowMs) },
    { title: 'Close', isNumber: true, cell: (market) => closeText(market, nowMs) },
    { title: 'Outcome', cell: (market) => <Outcome market={market} nowMs={nowMs} /> },
    { title: 'Coverage', isNumber: true, cell: (market) => coverageText(market, nowMs) },
  ];
}
