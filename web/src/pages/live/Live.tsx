import { Group, SegmentedControl, SimpleGrid, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { Market } from '../../api/schema.ts';
import { ConnectionBadge } from '../../live/ConnectionBadge.tsx';
import type { LiveState } from '../../live/messages.ts';
import { Receiving } from '../../live/Receiving.tsx';
import { useLive } from '../../live/useLive.ts';
import { number, percent, usd } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { useNow } from '../../ui/useNow.ts';
import { WindowCard } from './WindowCard.tsx';

const route = getRouteApi('/shell/live');
const WINDOWS = ['5m', '15m', '1h', '4h', 'daily_up_down'] as const;
const LIST_MS = 20_000;
const HEALTH_MS = 10_000;

/** Every window in play of one underlying, as it happens. */
export function Live(): ReactNode {
  const { ticker } = route.useSearch();
  const navigate = route.useNavigate();
  const markets = useApi(
    'GET /v1/markets',
    { query: { status: 'open', limit: 200 } },
    { refetchMs: LIST_MS },
  );
  const live = useLive(markets.data?.markets);
  const now = useNow();
  return (
    <Page
      title="Live"
      about="Every book change as it is recorded. Prices are cents a share; a share pays $1 if its side wins."
      actions={
        <SegmentedControl
          aria-label="Underlying"
          data={['BTC', 'ETH', 'SOL']}
          value={ticker}
          onChange={(value) => void navigate({ search: { ticker: value as typeof ticker } })}
        />
      }
    >
      <Status live={live} ticker={ticker} />
      {markets.isPending && <Loading />}
      {markets.isError && <Failure error={markets.error} retry={() => void markets.refetch()} />}
      {markets.isSuccess && (
        <Windows markets={inPlay(markets.data.markets, ticker, now)} live={live} now={now} />
      )}
    </Page>
  );
}

function Windows({
  markets,
  live,
  now,
}: {
  markets: readonly Market[];
  live: LiveState;
  now: number;
}): ReactNode {
  if (markets.length === 0) {
    return (
      <Empty title="No window in play">
        The recorder finds new windows within a minute; this page follows by itself.
      </Empty>
    );
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, xl: 3 }} spacing="md">
      {markets.map((market) => (
        <WindowCard key={market.market_id} market={market} book={live.markets[market.market_id]} now={now} />
      ))}
    </SimpleGrid>
  );
}

function Status({ live, ticker }: { live: LiveState; ticker: string }): ReactNode {
  const health = useApi('GET /health', {}, { refetchMs: HEALTH_MS });
  const { price = null, sigmaAnnual = null } = live.tickers[ticker] ?? {};
  return (
    <Group className="card" p="sm" gap="lg" aria-label="State of the feeds" role="group">
      <ConnectionBadge connection={live.connection} reason={live.reason} />
      <Receiving health={health.data} />
      <Text fw={650} size="lg">
        {ticker} {usd(price)}
      </Text>
      <Text size="sm" c="dimmed">
        volatility {percent(sigmaAnnual, 0)} a year
      </Text>
      <Text size="sm" c="dimmed">
        {number(live.received)} book changes since you opened this page
      </Text>
    </Group>
  );
}

/** The window of each length that has begun and not ended, shortest first. */
function inPlay(markets: readonly Market[], ticker: string, now: number): Market[] {
  return WINDOWS.flatMap((type) => {
    const found = markets.find(
      (market) =>
        market.ticker === ticker &&
        market.market_type === type &&
        Date.parse(market.start_time) <= now &&
        now < Date.parse(market.end_time),
    );
    return found === undefined ? [] : [found];
  });
}
