import { Select, Table, Text } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { EventType } from '../../../../src/schema/market.ts';
import { type Ticker, useAssets } from '../../api/assets.ts';
import { call } from '../../api/client.ts';
import type { Market, MarketList } from '../../api/schema.ts';
import { assetPrice, moment, percent, WINDOW_CHOICES, WINDOW_NAMES } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { ShowOlder } from '../../ui/ShowOlder.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { Outcome } from './Outcome.tsx';

const route = getRouteApi('/shell/markets');
const PAGE_SIZE = 50;

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
  });
  const markets = list.data?.pages.flatMap((page) => page.markets) ?? [];
  return (
    <Page title="Markets" about="Newest end first. Times are UTC." actions={<Filters search={search} />}>
      <div className="card">
        {list.isPending && <Loading rows={10} />}
        {list.isError && <Failure error={list.error} retry={() => void list.refetch()} />}
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
        w={150}
        data={[...assets]}
        value={search.ticker ?? null}
        onChange={set('ticker')}
      />
      <Select
        aria-label="Window"
        placeholder="All windows"
        clearable
        w={140}
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
    <Table.ScrollContainer minWidth={860}>
      <Table highlightOnHover verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Market</Table.Th>
            <Table.Th>Window</Table.Th>
            <Table.Th>Ends</Table.Th>
            <Table.Th ta="right">Strike</Table.Th>
            <Table.Th ta="right">Close</Table.Th>
            <Table.Th>Outcome</Table.Th>
            <Table.Th ta="right">Coverage</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {markets.map((market) => (
            <Table.Tr key={market.market_id}>
              <Table.Td>
                <Link to="/markets/$marketId" params={{ marketId: market.market_id }}>
                  {market.question}
                </Link>
              </Table.Td>
              <Table.Td className="nowrap">
                {market.ticker} {WINDOW_NAMES[market.market_type]}
              </Table.Td>
              <Table.Td className="nowrap">{moment(market.end_time)}</Table.Td>
              <Table.Td ta="right">{assetPrice(market.strike_price)}</Table.Td>
              <Table.Td ta="right">{assetPrice(market.close_price)}</Table.Td>
              <Table.Td>
                <Outcome market={market} />
              </Table.Td>
              <Table.Td ta="right">
                <Text size="sm" inherit>
                  {percent(market.coverage)}
                </Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
