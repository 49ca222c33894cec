import { Badge, Group, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo, type ReactNode } from 'react';
import type { Market } from '../../api/schema.ts';
import type { Level, LiveMarket } from '../../live/messages.ts';
import { cents, countdown, number, percent, usd, WINDOW_NAMES } from '../../ui/format.ts';
import { Ladder } from '../../ui/Ladder.tsx';
import { Sparkline } from '../../ui/Sparkline.tsx';
import classes from './WindowCard.module.css';

/** One window in play: what it costs, where the price stands, and both books. Drawn anew only when it has changed. */
export const WindowCard = memo(function WindowCard({
  market,
  book,
  now,
}: {
  market: Market;
  book: LiveMarket | undefined;
  now: number;
}): ReactNode {
  const [start, end] = [Date.parse(market.start_time), Date.parse(market.end_time)];
  const passed = ((now - start) / (end - start)) * 100;
  const name = WINDOW_NAMES[market.market_type] ?? market.market_type;
  return (
    <Stack className="card" p="md" gap="xs" component="section" aria-label={`${market.ticker} ${name}`}>
      <Group justify="space-between" wrap="nowrap">
        <Group gap="xs">
          <Title order={2} size="h4">
            <Link to="/markets/$marketId" params={{ marketId: market.market_id }}>
              {name}
            </Link>
          </Title>
          <TrustBadge book={book} />
        </Group>
        <Text fw={650} size="lg" aria-label="time left">
          {countdown(end - now)}
        </Text>
      </Group>
      <Progress value={passed} size="xs" aria-label="part of the window that has passed" />
      <SimpleGrid cols={2} spacing="xs">
        <Side name="Up" bids={book?.yesBids} asks={book?.yesAsks} colour="up" />
        <Side name="Down" bids={book?.noBids} asks={book?.noAsks} colour="down" />
      </SimpleGrid>
      <Sparkline values={book?.trail ?? []} label="price of Up, last three minutes" />
      <Figures market={market} book={book} />
      <SimpleGrid cols={2} spacing="sm">
        <Ladder title="Up" bids={book?.yesBids ?? []} asks={book?.yesAsks ?? []} rows={5} />
        <Ladder title="Down" bids={book?.noBids ?? []} asks={book?.noAsks ?? []} rows={5} />
      </SimpleGrid>
    </Stack>
  );
});

function TrustBadge({ book }: { book: LiveMarket | undefined }): ReactNode {
  if (book === undefined) return <Badge color="gray.7">waiting</Badge>;
  if (book.gap !== null) return <Badge color="red.9">gap: {book.gap.replaceAll('_', ' ')}</Badge>;
  return book.trusted ? <Badge color="teal.9">proven</Badge> : <Badge color="orange.9">unproven</Badge>;
}

function Side({
  name,
  bids,
  asks,
  colour,
}: {
  name: string;
  bids: readonly Level[] | undefined;
  asks: readonly Level[] | undefined;
  colour: 'up' | 'down';
}): ReactNode {
  const [bid, ask] = [bids?.[0]?.[0] ?? null, asks?.[0]?.[0] ?? null];
  return (
    <div className={classes.side}>
      <span>Buy {name}</span>
      <strong className={colour}>{cents(ask)}</strong>
      <span>sell {cents(bid)}</span>
    </div>
  );
}

function Figures({ market, book }: { market: Market; book: LiveMarket | undefined }): ReactNode {
  const [bid, ask] = [book?.yesBids[0]?.[0], book?.yesAsks[0]?.[0]];
  const spread = bid === undefined || ask === undefined ? null : ask - bid;
  const strike = market.strike_price === null ? 'not known yet' : usd(market.strike_price);
  const rows = [
    ['Strike', market.strike_source === null ? strike : `${strike} (${market.strike_source})`],
    ['Distance', distanceText(book?.distance)],
    ['Model, Up', percent(book?.modelProbability)],
    ['Spread', cents(spread)],
  ];
  return (
    <dl className={classes.figures}>
      {rows.map(([what, value]) => (
        <div key={what}>
          <dt>{what}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function distanceText(distance: number | null | undefined): string {
  if (distance === null || distance === undefined) return number(null);
  if (!Number.isFinite(distance)) return distance > 0 ? 'decided, Up' : 'decided, Down';
  return `${distance > 0 ? '+' : '−'}${Math.abs(distance).toFixed(2)} σ`;
}
