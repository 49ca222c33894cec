import { Badge, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { ApiProblem } from '../../api/problem.ts';
import type { Level, Market, Snapshot } from '../../api/schema.ts';
import { DepthChart } from '../../charts/DepthChart.tsx';
import { clockText, zoneName } from '../../charts/timeZone.ts';
import { useTimeZone } from '../../charts/useTimeZone.ts';
import { useServiceTime } from '../../live/useServiceClock.ts';
import { WARNING_COLOUR } from '../../theme.ts';
import { assetPrice, cents, shares } from '../../ui/format.ts';
import { type LadderUnits, MirroredLadder } from '../../ui/MirroredLadder.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { isBeforeShown, SHOWN_FROM } from './data.ts';
import type { useBook } from './useBook.ts';

/** The book at the chosen time: its ladder and its cumulative depth. */
export function BookPanel({
  market,
  shown: { book, stored },
}: {
  market: Market;
  shown: ReturnType<typeof useBook>;
}): ReactNode {
  const nowMs = useServiceTime();
  const isAbsent = stored.isError && stored.error instanceof ApiProblem && stored.error.status === 404;
  const isAsked = stored.fetchStatus !== 'idle' || stored.isError;
  if (isAbsent || (book === undefined && !isAsked)) {
    return (
      <Empty title="No book yet at this time">
        {isAbsent
          ? 'Move the slider to the right: the first book was recorded later.'
          : isBeforeShown(market, nowMs)
            ? SHOWN_FROM
            : 'No book of this market was recorded so far.'}
      </Empty>
    );
  }
  if (stored.isError && lastAnswer(stored) === undefined) return <RequestFailure of={stored} />;
  if (book === undefined) return <Loading rows={8} />;
  return (
    <>
      <RequestFailure of={stored} />
      <Book book={book} market={market} />
    </>
  );
}

function Book({ book, market }: { book: Snapshot; market: Market }): ReactNode {
  const [zone] = useTimeZone();
  const changedMs = Date.parse(book.ts);
  const { ticker, tick_size } = market;
  const [units, opposite] = useMemo(() => printsOf(tick_size), [tick_size]);
  const [bids, asks] = useMemo(() => [pairs(book.yes_bids), pairs(book.yes_asks)] as const, [book]);
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Badge color={book.trusted ? 'teal.9' : WARNING_COLOUR}>{book.trusted ? 'proven' : 'unproven'}</Badge>
        <Text size="sm">
          last change {clockText(changedMs, zone)} {zoneName(zone, changedMs)}
        </Text>
        <Text size="sm">
          {book.underlying_price === null
            ? `no recent spot trade of ${ticker}`
            : `${ticker}, last spot trade ${assetPrice(book.underlying_price)}`}
        </Text>
      </Group>
      <Text size="xs" c="dimmed">
        Strike and close are prices of the feed that decides the market. Spot trades may differ.
      </Text>
      <MirroredLadder
        title="Order book of Up"
        bids={bids}
        asks={asks}
        units={units}
        opposite={opposite}
        reasons={NOBODY}
      />
      <DepthChart
        label={`Cumulative depth of Up: ${depthText(bids)} bid, ${depthText(asks)} offered`}
        bids={bids}
        asks={asks}
        price={cents}
        size={shares}
        unit="Shares"
      />
    </Stack>
  );
}

const NOBODY = {
  bids: 'no bids: nobody buys Up, so the market implies no price',
  asks: 'no asks: nobody sells Up, so the market implies no price',
};

/** Prices with as many decimals as the tick size needs, so that decimals are aligned. */
function printsOf(tickSize: number): [LadderUnits, { name: string; price: (price: number) => string }] {
  const digits = tickSize < 0.01 ? 1 : 0;
  const price = (value: number) => `${(value * 100).toFixed(digits)}¢`;
  return [
    { sizes: 'Shares', price },
    { name: 'Down', price: (value) => price(1 - value) },
  ];
}

function depthText(levels: readonly (readonly [number, number])[]): string {
  return `${shares(levels.reduce((sum, [, size]) => sum + size, 0))} shares`;
}

function pairs(levels: readonly Level[]): (readonly [number, number])[] {
  return levels.map(({ price, size }) => [price, size]);
}
