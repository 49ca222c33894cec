import { Group, SimpleGrid, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { chosenAsset, useAssets } from '../../api/assets.ts';
import { useApi } from '../../api/hooks.ts';
import type { LiveWindow } from '../../api/schema.ts';
import { ConnectionBadge } from '../../live/ConnectionBadge.tsx';
import type { LiveState } from '../../live/messages.ts';
import { Receiving } from '../../live/Receiving.tsx';
import { ServiceNotices } from '../../live/ServiceNotices.tsx';
import { useLive } from '../../live/useLive.ts';
import { AssetChoice } from '../../ui/AssetChoice.tsx';
import { assetPrice, number, percent } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import { useNow } from '../../ui/useNow.ts';
import { WindowCard } from './WindowCard.tsx';

const route = getRouteApi('/shell/live');
const WINDOWS = ['5m', '15m', '1h', '4h', 'daily_up_down'] as const;
const LIST_MS = 5_000;
const HEALTH_MS = 10_000;

/** Every open window of one underlying, live. */
export function Live(): ReactNode {
  const { ticker: asked } = route.useSearch();
  const assets = useAssets();
  const ticker = chosenAsset(assets, asked);
  const navigate = route.useNavigate();
  const windows = useApi('GET /app/live', {}, { refetchMs: LIST_MS });
  const live = useLive(windows.data?.windows, ticker);
  const now = useNow();
  return (
    <Page
      title="Live"
      about="Every book change as it is recorded. Prices are in cents per share; a share pays $1 if its side wins."
      actions={
        <AssetChoice
          assets={assets}
          chosen={ticker}
          choose={(value) => void navigate({ search: { ticker: value } })}
        />
      }
    >
      <ServiceNotices
        meanwhile={live.connection === 'live' ? 'live prices are current' : 'prices are polled every 5 s'}
      />
      <Status live={live} ticker={ticker} />
      {windows.isPending && <Loading />}
      {windows.data === undefined && windows.isError && (
        <Failure error={windows.error} retry={() => void windows.refetch()} />
      )}
      {windows.data !== undefined && (
        <Windows
          windows={inPlay(windows.data.windows, ticker, now)}
          answeredMs={windows.dataUpdatedAt}
          live={live}
          now={now}
        />
      )}
    </Page>
  );
}

function Windows({
  windows,
  answeredMs,
  live,
  now,
}: {
  windows: readonly LiveWindow[];
  answeredMs: number;
  live: LiveState;
  now: number;
}): ReactNode {
  if (windows.length === 0) {
    return (
      <Empty title="No open window">
        The recorder finds new windows within a minute; this page updates automatically.
      </Empty>
    );
  }
  return (
    <SimpleGrid cols={{ base: 1, sm: 2, xl: 3 }} spacing="md">
      {windows.map((window) => (
        <WindowCard
          key={window.market_id}
          window={window}
          answeredMs={answeredMs}
          pushed={live.markets[window.market_id] ?? null}
          isPushed={live.connection === 'live'}
          now={now}
        />
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
        {ticker} {assetPrice(price)}
      </Text>
      <Text size="sm" c="dimmed">
        annualised volatility {percent(sigmaAnnual, 0)}
      </Text>
      <Text size="sm" c="dimmed">
        {number(live.received)} book changes since you opened this page
      </Text>
    </Group>
  );
}

/** The open window of each length, shortest first. */
function inPlay(windows: readonly LiveWindow[], ticker: string, now: number): LiveWindow[] {
  return WINDOWS.flatMap((type) => {
    const found = windows.find(
      (window) =>
        window.ticker === ticker &&
        window.market_type === type &&
        Date.parse(window.start_time) <= now &&
        now < Date.parse(window.end_time),
    );
    return found === undefined ? [] : [found];
  });
}
