import { Badge, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import { ApiProblem } from '../../api/problem.ts';
import type { Level, Market, Snapshot } from '../../api/schema.ts';
import { DepthChart } from '../../charts/DepthChart.tsx';
import { clockText, useTimeZone } from '../../charts/timeZone.ts';
import { WARNING_COLOUR } from '../../theme.ts';
import { assetPrice, cents, shares } from '../../ui/format.ts';
import { MirroredLadder } from '../../ui/MirroredLadder.tsx';
import { Empty, Failure, Loading } from '../../ui/states.tsx';
import type { useBook } from './useBook.ts';

const DOWN = { name: 'Down', price: (price: number) => cents(1 - price) };

/** The book at the chosen time: its ladder and its cumulative depth. */
export function BookPanel({
  market,
  shown: { book, stored },
}: {
  market: Market;
  shown: ReturnType<typeof useBook>;
}): ReactNode {
  if (stored.isError && stored.error instanceof ApiProblem && stored.error.status === 404) {
    return (
      <Empty title="No book yet at this time">
        Move the slider to the right: the first book was recorded later.
      </Empty>
    );
  }
  if (stored.isError) return <Failure error={stored.error} retry={() => void stored.refetch()} />;
  if (book === undefined) return <Loading rows={8} />;
  return <Book book={book} ticker={market.ticker} />;
}

function Book({ book, ticker }: { book: Snapshot; ticker: string }): ReactNode {
  const [zone] = useTimeZone();
  const [bids, asks] = useMemo(() => [pairs(book.yes_bids), pairs(book.yes_asks)] as const, [book]);
  return (
    <Stack gap="sm">
      <Group gap="xs">
        <Badge color={book.trusted ? 'teal.9' : WARNING_COLOUR}>{book.trusted ? 'proven' : 'unproven'}</Badge>
        <Text size="sm">last change {clockText(Date.parse(book.ts), zone)}</Text>
        <Text size="sm">
          {ticker} {assetPrice(book.underlying_price)}
        </Text>
      </Group>
      <MirroredLadder title="Order book of Up" bids={bids} asks={asks} opposite={DOWN} />
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

function depthText(levels: readonly (readonly [number, number])[]): string {
  return `${shares(levels.reduce((sum, [, size]) => sum + size, 0))} shares`;
}

function pairs(levels: readonly Level[]): (readonly [number, number])[] {
  return levels.map(({ price, size }) => [price, size]);
}
