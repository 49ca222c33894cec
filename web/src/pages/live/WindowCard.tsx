import { Badge, Group, Progress, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo, type ReactNode } from 'react';
import type { LiveWindow } from '../../api/schema.ts';
import type { LiveMarket } from '../../live/messages.ts';
import { type KnownWindow, shownBook, type Trust } from '../../live/trust.ts';
import { WARNING_COLOUR } from '../../theme.ts';
import { assetPrice, cents, countdown, number, percent, WINDOW_NAMES } from '../../ui/format.ts';
import { Ladder } from '../../ui/Ladder.tsx';
import { Sparkline } from '../../ui/Sparkline.tsx';
import classes from './WindowCard.module.css';

/** One open window: its prices, distance to the strike, and both books. Rendered only when it has changed. */
export const WindowCard = memo(function WindowCard({
  now,
  ...known
}: KnownWindow & { now: number }): ReactNode {
  const { window } = known;
  const { book, trust } = shownBook(known, now);
  const best = bestPrices(window, book);
  const [start, end] = [Date.parse(window.start_time), Date.parse(window.end_time)];
  const passed = ((now - start) / (end - start)) * 100;
  const name = WINDOW_NAMES[window.market_type] ?? window.market_type;
  return (
    <Stack className="card" p="md" gap="xs" component="section" aria-label={`${window.ticker} ${name}`}>
      <Group justify="space-between" wrap="nowrap">
        <Group gap="xs">
          <Title order={2} size="h4">
            <Link to="/markets/$marketId" params={{ marketId: window.market_id }}>
              {name}
            </Link>
          </Title>
          <TrustBadge trust={trust} />
        </Group>
        <Text fw={650} size="lg" aria-label="time left">
          {countdown(end - now)}
        </Text>
      </Group>
      <Progress value={passed} size="xs" aria-label="elapsed part of the window" />
      <SimpleGrid cols={2} spacing="xs">
        <Side name="Up" bid={best.yesBid} ask={best.yesAsk} colour="up" />
        <Side name="Down" bid={best.noBid} ask={best.noAsk} colour="down" />
      </SimpleGrid>
      <Sparkline values={book?.trail ?? []} label="price of Up, last three minutes" />
      <Figures window={window} book={book} best={best} />
      <SimpleGrid cols={2} spacing="sm">
        <Ladder title="Up" bids={book?.yesBids ?? []} asks={book?.yesAsks ?? []} rows={5} />
        <Ladder title="Down" bids={book?.noBids ?? []} asks={book?.noAsks ?? []} rows={5} />
      </SimpleGrid>
    </Stack>
  );
});

const TRUST_COLOURS = {
  proven: 'teal.9',
  unproven: WARNING_COLOUR,
  stale: WARNING_COLOUR,
  waiting: 'gray.7',
} as const;

function TrustBadge({ trust }: { trust: Trust }): ReactNode {
  if (typeof trust === 'object') return <Badge color="red.9">gap: {trust.gap.replaceAll('_', ' ')}</Badge>;
  return <Badge color={TRUST_COLOURS[trust]}>{trust}</Badge>;
}

interface BestPrices {
  readonly yesBid: number | null;
  readonly yesAsk: number | null;
  readonly noBid: number | null;
  readonly noAsk: number | null;
}

function bestPrices(window: LiveWindow, book: LiveMarket | null): BestPrices {
  const answered = window.book;
  if (book === null) {
    return {
      ...{ yesBid: answered?.yes_bid ?? null, yesAsk: answered?.yes_ask ?? null },
      ...{ noBid: answered?.no_bid ?? null, noAsk: answered?.no_ask ?? null },
    };
  }
  return {
    ...{ yesBid: book.yesBids[0]?.[0] ?? null, yesAsk: book.yesAsks[0]?.[0] ?? null },
    ...{ noBid: book.noBids[0]?.[0] ?? null, noAsk: book.noAsks[0]?.[0] ?? null },
  };
}

function Side({
  name,
  bid,
  ask,
  colour,
}: {
  name: string;
  bid: number | null;
  ask: number | null;
  colour: 'up' | 'down';
}): ReactNode {
  return (
    <div className={classes.side}>
      <span>Buy {name}</span>
      <strong className={colour}>{cents(ask)}</strong>
      <span>sell {cents(bid)}</span>
    </div>
  );
}

function Figures({
  window,
  book,
  best,
}: {
  window: LiveWindow;
  book: LiveMarket | null;
  best: BestPrices;
}): ReactNode {
  const { yesBid, yesAsk } = best;
  const spread = yesBid === null || yesAsk === null ? null : yesAsk - yesBid;
  const strike = window.strike_price === null ? 'not known yet' : assetPrice(window.strike_price);
  const rows = [
    ['Strike', window.strike_source === null ? strike : `${strike} (${window.strike_source})`],
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
