import { Alert, Badge, Group, List, Table, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { FeedStatus as Status } from '../../api/schema.ts';
import { Receiving } from '../../live/Receiving.tsx';
import { WARNING_COLOUR } from '../../theme.ts';
import { age, duration, moment, number, WINDOW_NAMES } from '../../ui/format.ts';
import { Empty, Failure, Loading } from '../../ui/states.tsx';

type PriceSource = Status['price_sources'][number];

const REFETCH_MS = 5_000;
/** Most open gaps listed. */
const GAPS_SHOWN = 50;

/** Whether snapshots arrive, whether the service is ready, and the state of each connection to a venue. */
export function FeedStatus(): ReactNode {
  const health = useApi('GET /health', {}, { refetchMs: REFETCH_MS });
  const feeds = useApi('GET /app/feeds', {}, { refetchMs: REFETCH_MS });
  const state = useApi('GET /app/state', {}, { refetchMs: REFETCH_MS });
  if (health.isError) return <Failure error={health.error} retry={() => void health.refetch()} />;
  return (
    <>
      <Group gap="lg">
        <Receiving health={health.data} />
        {state.data !== undefined && (
          <Badge color={state.data.ready ? 'teal.9' : 'red.9'}>
            {state.data.ready ? 'ready' : state.data.reasons.join(', ')}
          </Badge>
        )}
        <Text size="sm" c="dimmed">
          newest {moment(health.data?.latest_snapshot)}
        </Text>
        {state.data !== undefined && (
          <Text size="sm" c="dimmed">
            stored data {duration(state.data.store_lag_seconds)} behind
          </Text>
        )}
      </Group>
      {feeds.isPending && <Loading rows={4} />}
      {feeds.data === undefined && feeds.isError && (
        <Failure error={feeds.error} retry={() => void feeds.refetch()} />
      )}
      {feeds.data !== undefined && (
        <>
          <UnknownVersions versions={feeds.data.unknown_versions} />
          <PriceSources status={feeds.data} />
          <Feeds status={feeds.data} />
          <OpenGaps gaps={feeds.data.gaps} />
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
            {newest_market}, last {moment(last_at)}
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
          : `Strikes of 5m, 15m and 4h windows come from ${live.join(' and ')}.`}
      </Text>
      <Table.ScrollContainer minWidth={560}>
        <Table verticalSpacing={4} aria-label="Price sources">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Price source</Table.Th>
              <Table.Th>State</Table.Th>
              <Table.Th ta="right">Last price</Table.Th>
              <Table.Th>What is missing</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sources.map(({ collector, source, state, last_at, missing }) => (
              <Table.Tr key={`${collector} ${source}`}>
                <Table.Td className="nowrap">
                  {SOURCE_NAMES[source]} <CollectorName name={collector} />
                </Table.Td>
                <Table.Td>
                  <Badge miw="max-content" color={STATE_COLOURS[state]}>
                    {state.replaceAll('_', ' ')}
                  </Badge>
                </Table.Td>
                <Table.Td ta="right" className="nowrap">
                  {age(last_at, status.as_of)}
                </Table.Td>
                <Table.Td style={{ overflowWrap: 'anywhere' }}>{missing ?? '–'}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
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
    <Table.ScrollContainer minWidth={760}>
      <Table verticalSpacing={4} aria-label="Feeds">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Feed</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th ta="right">Last message</Table.Th>
            <Table.Th ta="right">Open gaps</Table.Th>
            <Table.Th ta="right">Failures</Table.Th>
            <Table.Th>Last failure</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {status.feeds.map((feed) => (
            <Table.Tr key={`${feed.collector} ${feed.feed} ${feed.group}`}>
              <Table.Td className="nowrap">
                {feed.feed} {feed.group} <CollectorName name={feed.collector} />
              </Table.Td>
              <Table.Td>
                <FeedState feed={feed} />
              </Table.Td>
              <Table.Td ta="right" className="nowrap">
                {age(feed.last_message_at, status.as_of)}
              </Table.Td>
              <Table.Td ta="right" {...(feed.gaps_open > 0 ? { fw: 700 } : {})}>
                {feed.gaps_open}
              </Table.Td>
              <Table.Td ta="right">{number(feed.failures)}</Table.Td>
              <Table.Td style={{ overflowWrap: 'anywhere' }}>
                {feed.last_failure === null ? '–' : `${moment(feed.last_failure_at)}: ${feed.last_failure}`}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** The process that is connected; nothing where one process does everything. */
function CollectorName({ name }: { name: string | undefined }): ReactNode {
  return name === undefined ? null : (
    <Text span size="xs" c="dimmed">
      {name}
    </Text>
  );
}

/** A socket is connected or not; a request was answered, failed, or was not sent yet. */
function FeedState({ feed }: { feed: Status['feeds'][number] }): ReactNode {
  const { kind, up, connections, last_message_at, failures } = feed;
  if (kind === 'requests' && last_message_at === null && failures === 0) {
    return (
      <Badge miw="max-content" color="gray.7">
        no request yet
      </Badge>
    );
  }
  if (up === 0)
    return (
      <Badge miw="max-content" color="red.9">
        {kind === 'socket' ? 'not connected' : 'no answer'}
      </Badge>
    );
  if (up < connections)
    return (
      <Badge miw="max-content" color={WARNING_COLOUR}>
        {up} of {connections} connected
      </Badge>
    );
  const all = kind === 'requests' ? 'answers' : connections === 1 ? 'connected' : `${connections} connected`;
  return (
    <Badge miw="max-content" color="teal.9">
      {all}
    </Badge>
  );
}

function OpenGaps({ gaps }: Pick<Status, 'gaps'>): ReactNode {
  if (gaps.length === 0) return <Text size="sm">No gap is open: every followed book is proven.</Text>;
  return (
    <Table.ScrollContainer minWidth={560}>
      <Table verticalSpacing={4} aria-label="Open gaps">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Open gap since</Table.Th>
            <Table.Th>Market</Table.Th>
            <Table.Th>Cause</Table.Th>
            <Table.Th>Feed</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {gaps.slice(0, GAPS_SHOWN).map((gap) => (
            <Table.Tr key={gap.gap_id}>
              <Table.Td className="nowrap">{moment(gap.start)}</Table.Td>
              <Table.Td>
                <Link to="/markets/$marketId" params={{ marketId: gap.market_id }}>
                  {gap.ticker ?? gap.market_id.slice(0, 10)} {WINDOW_NAMES[gap.event_type ?? '']}
                </Link>
              </Table.Td>
              <Table.Td>{gap.cause.replaceAll('_', ' ')}</Table.Td>
              <Table.Td>{gap.feed}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
