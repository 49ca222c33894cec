import { Badge, Group, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { EVENT_TYPES } from '../../../../src/schema/market.ts';
import { chosenAsset, useAssets } from '../../api/assets.ts';
import { useApi } from '../../api/hooks.ts';
import type { LiveWindow } from '../../api/schema.ts';
import { clockAheadMs, clockText } from '../../live/clockDifference.ts';
import { feedStateOf } from '../../live/feedState.ts';
import type { LiveState } from '../../live/messages.ts';
import { ServiceNotices } from '../../live/ServiceNotices.tsx';
import { useLive } from '../../live/useLive.ts';
import { WARNING_COLOUR } from '../../theme.ts';
import { AssetChoice } from '../../ui/AssetChoice.tsx';
import { assetPrice, countdown, number, percent, WINDOW_NAMES } from '../../ui/format.ts';
import { CardsFrame } from '../../ui/frames.tsx';
import { Page } from '../../ui/Page.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { useNow } from '../../ui/useNow.ts';
import { Opportunities } from './Opportunities.tsx';
import { PROVEN, WindowCard } from './WindowCard.tsx';

const route = getRouteApi('/shell/live');
const LIST_MS = 5_000;
const HEALTH_MS = 10_000;

/** Every open window of one underlying, live. */
export function Live(): ReactNode {
  const { ticker: asked } = route.useSearch();
  const assets = useAssets();
  const ticker = chosenAsset(assets, asked);
  const navigate = route.useNavigate();
  const windows = useApi('GET /app/live', {}, { refetchMs: LIST_MS });
  const known = lastAnswer(windows);
  const aheadMs = known === undefined ? 0 : clockAheadMs(known.as_of, windows.dataUpdatedAt);
  const live = useLive(known?.windows, ticker, aheadMs);
  const now = useNow();
  const clock = clockText(aheadMs);
  return (
    <Page
      title="Live"
      about="The open windows of one underlying, from every book change. A share pays $1 if its side wins."
      actions={
        <AssetChoice
          assets={assets}
          chosen={ticker}
          choose={(value) => void navigate({ search: { ticker: value } })}
        />
      }
    >
      <ServiceNotices
        meanwhile={
          live.connection === 'live' ? 'live prices are not affected' : 'prices are polled every 5 s'
        }
      />
      <Status
        live={live}
        ticker={ticker}
        spot={spotOf(known?.windows, ticker)}
        answeredMs={windows.dataUpdatedAt}
        now={now}
      />
      {windows.isPending && <CardsFrame count={5} height={320} />}
      {clock !== null && (
        <Text size="sm" role="status">
          {clock}
        </Text>
      )}
      <RequestFailure of={windows} />
      {known !== undefined && (
        <Windows
          windows={known.windows}
          ticker={ticker}
          answeredMs={windows.dataUpdatedAt + aheadMs}
          live={live}
          now={now + aheadMs}
        />
      )}
      <Text size="sm" c="dimmed">
        A card says “proven” while {PROVEN}.
      </Text>
      <Opportunities now={now + aheadMs} />
    </Page>
  );
}

/** One card for each window length; a length without an open window says so. */
function Windows({
  windows,
  ticker,
  answeredMs,
  live,
  now,
}: {
  windows: readonly LiveWindow[];
  ticker: string;
  answeredMs: number;
  live: LiveState;
  now: number;
}): ReactNode {
  const ofTicker = windows.filter((window) => window.ticker === ticker);
  return (
    <SimpleGrid cols={{ base: 1, md: 2, xl: 3 }} spacing="md">
      {EVENT_TYPES.map((type) => {
        const ofType = ofTicker.filter(({ market_type }) => market_type === type);
        const window = ofType.find((one) => isInPlay(one, now));
        return window === undefined ? (
          <NoWindow key={type} ticker={ticker} type={type} next={ofType[0]} now={now} />
        ) : (
          <WindowCard
            key={type}
            window={window}
            answeredMs={answeredMs}
            pushed={live.markets[window.market_id] ?? null}
            isPushed={live.connection === 'live'}
            price={live.tickers[ticker]?.price ?? null}
            now={now}
          />
        );
      })}
    </SimpleGrid>
  );
}

function NoWindow({
  ticker,
  type,
  next,
  now,
}: {
  ticker: string;
  type: string;
  next: LiveWindow | undefined;
  now: number;
}): ReactNode {
  const name = WINDOW_NAMES[type] ?? type;
  return (
    <Stack className="card" p="md" gap="xs" component="section" aria-label={`${ticker} ${name}`}>
      <Title order={2} size="h4">
        {ticker} {name}
      </Title>
      <Text size="sm" c="dimmed">
        {next === undefined
          ? 'No open window of this length is known. The recorder looks for new ones every minute; this card updates automatically.'
          : `No window is open. The next one begins in ${countdown(Date.parse(next.start_time) - now)}.`}
      </Text>
    </Stack>
  );
}

const TONES = { good: 'teal.9', waiting: 'gray.7', warning: WARNING_COLOUR, bad: 'red.9' } as const;

function Status({
  live,
  ticker,
  spot,
  answeredMs,
  now,
}: {
  live: LiveState;
  ticker: string;
  /** The price of the last answer, for a stream that has sent none yet. */
  spot: number | null;
  answeredMs: number;
  now: number;
}): ReactNode {
  const health = useApi('GET /health', {}, { refetchMs: HEALTH_MS });
  const { price = null, sigmaAnnual = null } = live.tickers[ticker] ?? {};
  const state = feedStateOf(live, { health: health.data, answeredMs, nowMs: now });
  return (
    <Group className="card" p="sm" gap="lg" aria-label="State of the feeds" role="group">
      <Badge color={TONES[state.tone]}>{state.label}</Badge>
      {state.problem !== null && (
        <Text size="sm" role="alert">
          {state.problem}
        </Text>
      )}
      {state.detail !== null && <Text size="sm">{state.detail}</Text>}
      <Text fw={650} size="lg">
        {ticker} {assetPrice(price ?? spot)}
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

/** The service's own current price of an underlying; null if it has none. */
function spotOf(windows: readonly LiveWindow[] | undefined, ticker: string): number | null {
  return windows?.find((one) => one.ticker === ticker && one.model?.spot != null)?.model?.spot ?? null;
}

function isInPlay({ start_time, end_time }: LiveWindow, now: number): boolean {
  return Date.parse(start_time) <= now && now < Date.parse(end_time);
}
