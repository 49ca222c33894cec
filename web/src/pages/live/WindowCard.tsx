import { Badge, Group, Progress, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { memo, type ReactNode } from 'react';
import { type CardFigures, cardFigures, type Known } from '../../live/cardFigures.ts';
import { type KnownWindow, shownBook, type Trust } from '../../live/trust.ts';
import { WARNING_COLOUR } from '../../theme.ts';
import {
  assetPrice,
  cents,
  countdown,
  duration,
  percent,
  usd,
  WINDOW_NAMES,
  withSign,
} from '../../ui/format.ts';
import { Sparkline } from '../../ui/Sparkline.tsx';
import { BestLevels } from './BestLevels.tsx';
import classes from './WindowCard.module.css';

/**
 * One open window: time left, strike and distance, the market's probability against the model's, and the best levels.
 * A missing figure has its reason. Rendered only when it has changed.
 */
export const WindowCard = memo(function WindowCard({
  now,
  price,
  ...known
}: KnownWindow & { now: number; price: number | null }): ReactNode {
  const { window } = known;
  const { book, trust } = shownBook(known, now);
  const figures = cardFigures(window, { pushed: book, price, trust, nowMs: now });
  const [start, end] = [Date.parse(window.start_time), Date.parse(window.end_time)];
  const name = WINDOW_NAMES[window.market_type] ?? window.market_type;
  return (
    <Stack className="card" p="md" gap="sm" component="section" aria-label={`${window.ticker} ${name}`}>
      <div className={classes.head}>
        <Group gap="xs">
          <Title order={2} size="h4">
            <Link to="/markets/$marketId" params={{ marketId: window.market_id }}>
              {window.ticker} {name}
            </Link>
          </Title>
          <TrustBadge trust={trust} />
        </Group>
        <div className={classes.countdown}>
          {countdown(end - now)} <small>left</small>
        </div>
      </div>
      <Progress
        value={((now - start) / (end - start)) * 100}
        size="xs"
        aria-label="elapsed part of the window"
      />
      <Figures figures={figures} source={window.strike_source} />
      {book !== null && book.trail.length > 1 && (
        <Sparkline values={book.trail} label={`mid of Up, last ${duration(book.trail.length)}`} />
      )}
      {figures.book === null ? (
        <Text size="sm" c="dimmed">
          No book received yet. The first one arrives with the next change of the market.
        </Text>
      ) : (
        <BestLevels book={figures.book} />
      )}
    </Stack>
  );
});

const TRUST_COLOURS = {
  proven: 'teal.9',
  unproven: WARNING_COLOUR,
  stale: WARNING_COLOUR,
  waiting: 'gray.7',
} as const;

export const PROVEN = 'the venue’s own data confirm the book, and no change of it is missing';

const TRUST_MEANINGS = {
  proven: PROVEN,
  unproven: 'the venue’s data have not confirmed the book yet',
  stale: 'the service has not answered for 15 s',
  waiting: 'no book was received yet',
} as const;

function TrustBadge({ trust }: { trust: Trust }): ReactNode {
  if (typeof trust === 'object') {
    return (
      <Badge color="red.9" title="changes of the book may be missing since this fault">
        gap: {trust.gap.replaceAll('_', ' ')}
      </Badge>
    );
  }
  return (
    <Badge color={TRUST_COLOURS[trust]} title={TRUST_MEANINGS[trust]}>
      {trust}
    </Badge>
  );
}

/** How the strike is known, for readers. */
const SOURCES = {
  official: 'by the venue',
  relayed: 'by the deciding feed',
  estimated: 'estimated',
} as const;

function Figures({
  figures,
  source,
}: {
  figures: CardFigures;
  source: keyof typeof SOURCES | null;
}): ReactNode {
  const { strike, spot, distance, implied, model, edge } = figures;
  const tone = (value: number) => (value > 0 ? 'up' : value < 0 ? 'down' : undefined);
  return (
    <dl className={classes.figures}>
      <Figure name="Market, Up" of={implied} isLarge print={percent} note={() => 'bid-ask mid'} />
      <Figure
        name="Model, Up"
        of={model}
        isLarge
        print={percent}
        note={(value) => (implied.value === null ? '' : points(value - implied.value))}
      />
      <Figure
        name="Edge after fee"
        of={edge}
        isLarge
        tone={({ edge: value }) => tone(value)}
        print={({ edge: value }) => withSign(value, (one) => cents(one))}
        note={({ side, price }) => `buy ${side} at ${cents(price)}`}
      />
      <Figure
        name="Strike"
        of={strike}
        print={assetPrice}
        note={() => (source === null ? '' : SOURCES[source])}
      />
      <Figure name="Price" of={spot} print={assetPrice} />
      <Figure
        name="Distance"
        of={distance}
        tone={({ usd: away }) => tone(away)}
        print={({ usd: away }) => withSign(away, (one) => usd(one, digitsFor(strike.value)))}
        note={({ share, sigmas }) =>
          [
            withSign(share, (one) => percent(one, 2)),
            ...(sigmas === null ? [] : [`${withSign(sigmas, (one) => sigmaText(one ?? 0))}`]),
          ].join(', ')
        }
      />
    </dl>
  );
}

function Figure<T>({
  name,
  of,
  print,
  note,
  tone,
  isLarge = false,
}: {
  name: string;
  of: Known<T>;
  print: (value: T) => string;
  note?: (value: T) => string;
  tone?: (value: T) => string | undefined;
  isLarge?: boolean;
}): ReactNode {
  if (of.value === null) {
    return (
      <div>
        <dt>{name}</dt>
        <dd className={classes.note}>{of.reason}</dd>
      </div>
    );
  }
  const text = note?.(of.value) ?? '';
  const size = isLarge ? classes.large : '';
  return (
    <div>
      <dt>{name}</dt>
      <dd className={`${size} ${tone?.(of.value) ?? ''}`}>{print(of.value)}</dd>
      {text !== '' && <dd className={classes.note}>{text}</dd>}
    </div>
  );
}

/** Digits of a difference of prices, as many as the prices have. */
function digitsFor(price: number | null): number {
  return price === null || price >= 10 ? 2 : price < 1 ? 5 : 4;
}

/** A difference of two probabilities, e.g. `+1.5 points`. */
function points(difference: number): string {
  return withSign(difference, (value) => `${percent(value).replace(/\s%$/, '')} points`);
}

function sigmaText(sigmas: number): string {
  return `${sigmas < 0 ? '−' : ''}${Math.abs(sigmas).toFixed(2)}\u00a0σ`;
}
