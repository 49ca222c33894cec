import { Select, SimpleGrid, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { PERP_VENUES, type PerpVenueName } from '../../../../src/schema/events.ts';
import { chosenAsset, type Ticker, useAssets } from '../../api/assets.ts';
import { useApi } from '../../api/hooks.ts';
import type { DepthSnapshot, PerpDepth } from '../../api/schema.ts';
import { DepthChart } from '../../charts/DepthChart.tsx';
import { momentText } from '../../charts/timeZone.ts';
import { useTimeZone } from '../../charts/useTimeZone.ts';
import { useClockAhead } from '../../live/useServiceClock.ts';
import { AssetChoice } from '../../ui/AssetChoice.tsx';
import { Figures } from '../../ui/Figures.tsx';
import { exactUsd, shares } from '../../ui/format.ts';
import { type LadderUnits, MirroredLadder } from '../../ui/MirroredLadder.tsx';
import { Page } from '../../ui/Page.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { useNow } from '../../ui/useNow.ts';
import { PerpCharts } from './PerpCharts.tsx';

const route = getRouteApi('/shell/perpetuals');
const REFETCH_MS = 2_000;
const MINUTE_MS = 60_000;
/** A book must be at most this old. The range also bounds the rows that the service counts for its answer. */
const SEARCHED_MS = 60 * MINUTE_MS;
const ROWS = 20;
const VENUE_NAMES: Readonly<Record<PerpVenueName, string>> = {
  bybit: 'Bybit',
  binance: 'Binance USD-M',
  okx: 'OKX',
  hyperliquid: 'Hyperliquid',
};

export interface PerpetualsSearch {
  readonly ticker?: Ticker | undefined;
  readonly venue: PerpVenueName;
}

/** The newest book of one perpetual future at one venue. */
export function Perpetuals(): ReactNode {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const assets = useAssets();
  const ticker = chosenAsset(assets, search.ticker);
  const aheadMs = useClockAhead();
  // A new range only every minute, so that most requests are the same one.
  const minute = Math.floor((useNow() + (aheadMs ?? 0)) / MINUTE_MS) * MINUTE_MS;
  const start = new Date(minute - SEARCHED_MS).toISOString();
  const found = useApi(
    'GET /v1/perp/depth',
    { query: { ticker, venue: search.venue, start, order: 'desc', limit: 1 } },
    // The range of a wrong clock may have no book.
    { refetchMs: REFETCH_MS, enabled: aheadMs !== null },
  );
  const known = lastAnswer(found);
  const set = (change: Partial<PerpetualsSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <Page
      title="Perpetuals"
      about="Order book, basis and spread of the perpetual future, as recorded. Sizes are in coins at every venue."
      actions={
        <>
          <Select
            aria-label="Venue"
            w={170}
            allowDeselect={false}
            data={PERP_VENUES.map((value) => ({ value, label: VENUE_NAMES[value] }))}
            value={search.venue}
            onChange={(value) => set({ venue: value as PerpVenueName })}
          />
          <AssetChoice assets={assets} chosen={ticker} choose={(value) => set({ ticker: value })} />
        </>
      }
    >
      {found.isPending && <Loading />}
      <RequestFailure of={found} />
      {known !== undefined && <Newest answer={known} venue={search.venue} />}
      {aheadMs !== null && (
        <PerpCharts key={`${ticker} ${search.venue}`} ticker={ticker} venue={search.venue} minute={minute} />
      )}
    </Page>
  );
}

function Newest({ answer, venue }: { answer: PerpDepth; venue: PerpVenueName }): ReactNode {
  const [book] = answer.snapshots;
  if (book === undefined) {
    return (
      <div className="card">
        <Empty title="No book in the last hour">
          The service records {VENUE_NAMES[venue]} only if the venue’s address is configured. The operator’s
          page shows the state of each feed.
        </Empty>
      </div>
    );
  }
  return <Book book={book} ticker={answer.ticker} />;
}

/** Prices and sizes with the decimals that this book needs, so that they are aligned. */
function coinUnits({ bids, asks }: DepthSnapshot): LadderUnits {
  const levels = [...bids.slice(0, ROWS), ...asks.slice(0, ROWS)];
  const fixed = (values: readonly number[]) => {
    const digits = Math.max(0, ...values.map((value) => (String(value).split('.')[1] ?? '').length));
    const options = { minimumFractionDigits: digits, maximumFractionDigits: digits };
    return (value: number) => value.toLocaleString('en', options);
  };
  const priceOf = fixed(levels.map(([price]) => price));
  return {
    sizes: 'Coins',
    price: (price) => `$${priceOf(price)}`,
    size: fixed(levels.map(([, size]) => size)),
  };
}

function Book({ book, ticker }: { book: DepthSnapshot; ticker: string }): ReactNode {
  const [zone] = useTimeZone();
  const { best_bid: bid, best_ask: ask, bids, asks, n_bids, n_asks } = book;
  const spread = bid === null || ask === null ? null : Number((ask - bid).toPrecision(8));
  const units = coinUnits(book);
  return (
    <>
      <Figures
        cols={{ base: 2, md: 4 }}
        figures={[
          ['Best bid', bid === null ? 'no bids' : units.price(bid)],
          ['Best ask', ask === null ? 'no asks' : units.price(ask)],
          ['Spread', exactUsd(spread)],
          ['Levels', `${n_bids} bids, ${n_asks} asks`],
        ]}
      />
      <Text size="sm" c="dimmed">
        {momentText(Date.parse(book.timestamp), zone)}, update {book.update_id}
      </Text>
      <SimpleGrid cols={{ base: 1, lg: 2 }} className="card" p="md">
        <MirroredLadder title={`${ticker} perpetual`} bids={bids} asks={asks} rows={ROWS} units={units} />
        <Stack gap="xs">
          <Text size="sm" fw={600}>
            Depth
          </Text>
          <DepthChart
            label={`Cumulative depth of the ${ticker} perpetual: ${n_bids} bids and ${n_asks} asks`}
            bids={bids}
            asks={asks}
            price={exactUsd}
            size={shares}
            unit="Coins"
            height={320}
          />
        </Stack>
      </SimpleGrid>
    </>
  );
}
