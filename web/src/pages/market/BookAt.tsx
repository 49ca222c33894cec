import { Badge, Group, SimpleGrid, Slider, Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { type ReactNode, useEffect, useState } from 'react';
import { useApi } from '../../api/hooks.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { Level, Market } from '../../api/schema.ts';
import { WARNING_COLOUR } from '../../theme.ts';
import { assetPrice, moment } from '../../ui/format.ts';
import { Ladder } from '../../ui/Ladder.tsx';
import { Empty, Failure } from '../../ui/states.tsx';
import { spanOf } from './data.ts';

/** Delay after the slider's last move before the book is loaded. */
const SETTLE_MS = 150;

/** Both books at the time that the reader chooses. */
export function BookAt({
  market,
  at,
  onPick,
}: {
  market: Market;
  at: number | null;
  onPick: (timeMs: number) => void;
}): ReactNode {
  const { fromMs, toMs } = spanOf(market);
  const latest = Math.min(toMs, Date.now());
  const [time, setTime] = useState(at ?? latest);
  useEffect(() => {
    if (at !== null) setTime(at);
  }, [at]);
  const [settled] = useDebouncedValue(time, SETTLE_MS);
  const book = useApi(
    'GET /v1/snapshot-at/{ts}',
    { path: { ts: new Date(settled).toISOString() }, query: { market_id: market.market_id } },
    { keep: true },
  );
  return (
    <>
      <Slider
        min={fromMs}
        max={latest}
        step={1000}
        value={time}
        onChange={setTime}
        onChangeEnd={onPick}
        label={moment}
        thumbLabel="Moment of the book"
      />
      {book.isError && book.error instanceof ApiProblem && book.error.status === 404 ? (
        <Empty title="No book yet at this moment">
          Move the slider to the right: the first book was recorded later.
        </Empty>
      ) : (
        book.isError && <Failure error={book.error} retry={() => void book.refetch()} />
      )}
      {book.data !== undefined && !book.isError && (
        <>
          <Group gap="sm">
            <Text size="sm">
              {moment(settled)} UTC; last change {moment(book.data.ts)}
            </Text>
            <Text size="sm">
              {market.ticker} {assetPrice(book.data.underlying_price)}
            </Text>
            <Badge color={book.data.trusted ? 'teal.9' : WARNING_COLOUR}>
              {book.data.trusted ? 'proven' : 'unproven'}
            </Badge>
          </Group>
          <SimpleGrid cols={{ base: 1, xs: 2 }}>
            <Ladder title="Up" bids={pairs(book.data.yes_bids)} asks={pairs(book.data.yes_asks)} rows={10} />
            <Ladder title="Down" bids={pairs(book.data.no_bids)} asks={pairs(book.data.no_asks)} rows={10} />
          </SimpleGrid>
        </>
      )}
    </>
  );
}

function pairs(levels: readonly Level[]): (readonly [number, number])[] {
  return levels.map(({ price, size }) => [price, size]);
}
