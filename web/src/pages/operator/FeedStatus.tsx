import { Alert, Badge, Group, List, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { FeedStatus as Status } from '../../api/schema.ts';
import { Receiving } from '../../live/Receiving.tsx';
import { WARNING_COLOUR } from '../../theme.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { age, moment, number, WINDOW_NAMES } from '../../ui/format.ts';
import { TableFrame } from '../../ui/frames.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty } from '../../ui/states.tsx';
import { isIdle } from './feedsFigure.ts';

type PriceSource = Status['price_sources'][number];

const REFETCH_MS = 5_000;
/** Most open gaps listed. */
const GAPS_SHOWN = 50;

/** Whether snapshots arrive, whether the service is ready, and the state of each connection to a venue. */
export function FeedStatus(): ReactNode {
  const health = useApi('GET /health', {}, { refetchMs: REFETCH_MS });
  const feeds = useApi('GET /app/feeds', {}, { refetchMs: REFETCH_MS });
  const known = lastAnswer(feeds);
  return (
    <>
      <RequestFailure of={health} />
      <Group gap="lg">
        <Receiving health={health.isError ? undefined : health.data} />
        <Text size="sm" c="dimmed">
          newest {moment(health.data?.latest_snapshot)} UTC
        </Text>
      </Group>
      {feeds.isPending && <TableFrame rows={6} columns={6} />}
      <RequestFailure of={feeds} />
      {known !== undefined && (
        <>
          <UnknownVersions versions={known.unknown_versions} />
          <PriceSources status={known} />
          <Feeds status={known} />
          <OpenGaps gaps={known.gaps} />
        </>
      )}
    </>
  );
}

const PLACES: Record<Status['unknown_versions'][number]['where'], string> = {
  gamma: 'the listing',
  frame: 'frames of the market channel',
  book: 'requested books',
  clob_market: 'market records of the exchange',
};

/** A warning that the venue changed its protocol; nothing while all versions are known. */
function UnknownVersions({ versions }: { versions: Status['unknown_versions'] }): ReactNode {
  if (versions.length === 0) return null;
  return (
    <Alert color="red" role="region" title="Unknown protocol version">
      <Text size="sm">
        The venue sends data that this release does not know. These markets are not recorded.
      </Text>
      <List listStyleType="none" spacing={2} size="sm">
        {versions.map(({ collector, where, version, markets, newest_market, last_at }) => (
          <List.Item key={`${collector} ${where} ${version}`} style={{ overflowWrap: 'anywhere' }}>
            {version} in {PLACES[where]}: {number(markets)} {markets === 1 ? 'market' : 'markets'}, newest{' '}
            {newest_market}, last {moment(last_at)} UTC
            {collector !== undefined && `, received by ${collector}`}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

const SOURCE_NAMES: Readonly<Record<PriceSource['source'], string>> = {
  polybolt: 'PolyBolt',
  rtds: 'RTDS',
  crypto_price: 'crypto-price of the website',
};
const STATE_COLOURS: Readonly<Record<PriceSource['state'], string>> = {
  ...{ live: 'teal.9', ready: 'teal.9', silent: 'red.9', refused: 'red.9' },
  ...{ no_credentials: WARNING_COLOUR, off: 'gray.7' },
};

/** Where the prices that decide windows come from: the first live source is used. */
function PriceSources({ status }: { status: Status }): ReactNode {
  const sources = status.price_sources;
  if (sources.length === 0) return null;
  const named = sources.filter(({ state }) => state === 'live').map(({ source }) => SOURCE_NAMES[source]);
  const live = [...new Set(named)];
  return (
    <>
      <Text size="sm">
        {live.length === 0
          ? 'No price stream is live: strikes come from the website, the listing, or our own estimate.'
          : `Strikes of windows of 5 min, 15 min and 4 hours come from ${live.join(' and ')}.`}
      </Text>
      <DataTable
        label="Price sources"
        columns={sourceColumns(status.as_of)}
        rows={sources}
        keyOf={({ collector, source }) => `${collector} ${source}`}
      />
    </>
  );
}

function sourceColumns(asOf: string): readonly Column<PriceSource>[] {
  return [
    {
      title: 'Price source',
      cell: ({ source, collector }) => (
        <>
          {SOURCE_NAMES[source]} <CollectorName name={collector} />
        </>
      ),
    },
    {
      title: 'State',
      cell: ({ state, last_at }) =>
        state === 'ready' && last_at === null ? (
          <NotNeeded />
        ) : (
          <Badge color={STATE_COLOURS[state]}>{state.replaceAll('_', ' ')}</Badge>
        ),
    },
    { title: 'Last received', isNumber: true, cell: ({ last_at }) => age(last_at, asOf) },
    { title: 'Missing', isText: true, cell: ({ missing }) => missing ?? '–' },
  ];
}

function Feeds({ status }: { status: Status }): ReactNode {
  if (status.feeds.length === 0) {
    return (
      <Empty title="No feed is configured">
        Every venue of this service is off: see its settings and its log.
      </Empty>
    );
  }
  return (
    <DataTable
      label="Feeds"
      columns={feedColumns(status.as_of)}
      rows={status.feeds}
      keyOf={({ collector, feed, group }) => `${collector} ${feed} ${group}`}
    />
  );
}

type Feed = Status['feeds'][number];

function feedColumns(asOf: string): readonly Column<Feed>[] {
  return [
    {
      title: 'Feed',
      cell: ({ feed, group, collector }) => (
        <>
          {feed} {group} <CollectorName name={collector} />
        </>
      ),
    },
    { title: 'State', cell: (feed) => <FeedState feed={feed} /> },
    { title: 'Last message', isNumber: true, cell: ({ last_message_at }) => age(last_message_at, asOf) },
    {
      title: 'Open gaps',
      isNumber: true,
      cell: ({ gaps_open }) => (
        <Text span inherit {...(gaps_open > 0 ? { fw: 700 } : {})}>
          {gaps_open}
        </Text>
      ),
    },
    { title: 'Failures', isNumber: true, cell: ({ failures }) => number(failures) },
    {
      title: 'Last failure',
      isText: true,
      cell: ({ last_failure, last_failure_at }) =>
        last_failure === null ? '–' : `${moment(last_failure_at)} UTC: ${last_failure}`,
    },
  ];
}

/** The process that is connected; nothing where one process does everything. */
function CollectorName({ name }: { name: string | undefined }): ReactNode {
  return name === undefined ? null : (
    <Text span size="xs" c="dimmed">
      {name}
    </Text>
  );
}

/** State of a feed or price source that is requested only on demand, before its first request. */
function NotNeeded(): ReactNode {
  return <Badge color="gray.7">not needed yet</Badge>;
}

/** A socket is connected or not; a request was answered, failed, or was not sent yet. */
function FeedState({ feed }: { feed: Status['feeds'][number] }): ReactNode {
  const { kind, up, connections } = feed;
  if (isIdle(feed)) return <NotNeeded />;
  if (up === 0) return <Badge color="red.9">{kind === 'socket' ? 'not connected' : 'no answer'}</Badge>;
  if (up < connections)
    return (
      <Badge color={WARNING_COLOUR}>
        {up} of {connections} connected
      </Badge>
    );
  const all = kind === 'requests' ? 'answers' : connections === 1 ? 'connected' : `${connections} connected`;
  return <Badge color="teal.9">{all}</Badge>;
}

function OpenGaps({ gaps }: Pick<Status, 'gaps'>): ReactNode {
  if (gaps.length === 0) return <Text size="sm">No gap is open: every followed book is proven.</Text>;
  return (
    <DataTable
      label="Open gaps"
      columns={GAP_COLUMNS}
      rows={gaps.slice(0, GAPS_SHOWN)}
      keyOf={({ gap_id }) => gap_id}
    />
  );
}

const GAP_COLUMNS: readonly Column<Status['gaps'][number]>[] = [
  { title: 'Open gap since, UTC', cell: ({ start }) => moment(start) },
  {
    title: 'Market',
    cell: ({ market_id, ticker, event_type }) => (
      <Link to="/markets/$marketId" params={{ marketId: market_id }}>
        {ticker ?? market_id.slice(0, 10)} {WINDOW_NAMES[event_type ?? '']}
      </Link>
    ),
  },
  { title: 'Cause', cell: ({ cause }) => cause.replaceAll('_', ' ') },
  { title: 'Feed', cell: ({ feed }) => feed },
];
