import { Group, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useMemo } from 'react';
import type { Ticker } from '../../api/assets.ts';
import { useApi } from '../../api/hooks.ts';
import type { DepthSnapshot, UnderlyingPoint } from '../../api/schema.ts';
import { axisPrice } from '../../charts/axisPrice.ts';
import { ChartGroupContext, makeChartGroup } from '../../charts/chartGroup.ts';
import type { Band, Line } from '../../charts/chartOptions.ts';
import { withHoles } from '../../charts/holes.ts';
import { TimeChart } from '../../charts/TimeChart.tsx';
import { TimeZoneChoice } from '../../charts/TimeZoneChoice.tsx';
import { assetPrice, exactUsd } from '../../ui/format.ts';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { type Basis, basisOf } from './basis.ts';

type PerpQuery = {
  readonly ticker: Ticker;
  readonly venue: 'bybit' | 'binance' | 'okx' | 'hyperliquid';
};

const MINUTE_MS = 60_000;
/** The displayed time, and one point of it. */
const [SHOWN_MS, INTERVAL_MS] = [30 * MINUTE_MS, 10_000];
const POINTS_MAX = SHOWN_MS / INTERVAL_MS + 10;

/**
 * Mid of the perpetual beside the spot price, the basis and the spread over the last half hour.
 * @param minute Unix ms; the charts are loaded again with each new one.
 */
export function PerpCharts({ ticker, venue, minute }: PerpQuery & { readonly minute: number }): ReactNode {
  const group = useMemo(makeChartGroup, []);
  const start = new Date(minute - SHOWN_MS).toISOString();
  const range = { ticker, start, order: 'asc', interval_ms: INTERVAL_MS, limit: POINTS_MAX } as const;
  const books = useApi('GET /v1/perp/depth', { query: { ...range, venue } }, { keep: true });
  const spot = useApi('GET /v1/underlying', { query: { ...range, source: 'binance_spot' } }, { keep: true });
  const span = useMemo(
    () => ({ from: (minute - SHOWN_MS) / 1000, to: (minute + MINUTE_MS) / 1000 }),
    [minute],
  );
  if (books.isError && books.data === undefined) return <RequestFailure of={books} />;
  if (spot.isError && spot.data === undefined) return <RequestFailure of={spot} />;
  if (books.data === undefined || spot.data === undefined) return <Loading rows={8} />;
  return (
    <ChartGroupContext value={group}>
      <Stack className="card" p="md" gap="xs" component="section" aria-label="Basis and spread">
        <Group justify="space-between">
          <Title order={2} size="h4">
            Basis and spread
          </Title>
          <TimeZoneChoice timeMs={minute} />
        </Group>
        {books.data.snapshots.length === 0 ? (
          <Empty title="No book in the last half hour" />
        ) : (
          <Charts books={books.data.snapshots} spot={spot.data.points} span={span} ticker={ticker} />
        )}
        <Text size="xs" c="dimmed">
          The last half hour, one point every 10 s. Basis: mid of the perpetual less the spot price of
          Binance, in basis points of spot.
        </Text>
      </Stack>
    </ChartGroupContext>
  );
}

function Charts({
  books,
  spot,
  span,
  ticker,
}: {
  books: readonly DepthSnapshot[];
  spot: readonly UnderlyingPoint[];
  span: Band;
  ticker: string;
}): ReactNode {
  const shown = useMemo(() => linesOf(basisOf(books, spot)), [books, spot]);
  const shared = { times: shown.times, span };
  return (
    <>
      <TimeChart
        {...shared}
        label={`Mid of the ${ticker} perpetual and spot price over time`}
        lines={shown.prices}
        hasTimeAxis={false}
        height={200}
      />
      <TimeChart
        {...shared}
        label={`Basis of the ${ticker} perpetual over time, in basis points`}
        lines={shown.basis}
        mark={ZERO}
        hasTimeAxis={false}
        height={160}
      />
      <TimeChart
        {...shared}
        label={`Spread of the ${ticker} perpetual over time`}
        lines={shown.spread}
        height={150}
      />
    </>
  );
}

const ZERO = { scale: 'basis', value: 0, label: 'spot' };

/** Points further apart than this are not connected. */
const HOLE_SECONDS = (3 * INTERVAL_MS) / 1000;

function linesOf({ times, ...columns }: Basis) {
  const joined = (values: readonly (number | null)[]) => withHoles(times, values, HOLE_SECONDS);
  const [mid, spot] = [joined(columns.mid), joined(columns.spot)];
  const [basisBps, spread] = [joined(columns.basisBps), joined(columns.spread)];
  const prices: Line[] = [
    {
      label: 'Perpetual',
      scale: 'price',
      colour: '#c2710a',
      print: assetPrice,
      printAxis: axisPrice,
      values: mid,
    },
    {
      label: 'Spot',
      scale: 'price',
      colour: '#7c5cd6',
      print: assetPrice,
      printAxis: axisPrice,
      values: spot,
    },
  ];
  const basis: Line[] = [
    { label: 'Basis', scale: 'basis', colour: '#1c7ed6', print: basisPoints, values: basisBps },
  ];
  const lines: Line[] = [
    {
      ...{ label: 'Spread', scale: 'spread', colour: '--down', kind: 'step' },
      ...{ print: exactUsd, values: spread },
    },
  ];
  return { times, prices, basis, spread: lines };
}

function basisPoints(value: number | null): string {
  if (value === null) return '–';
  return `${value < 0 ? '−' : ''}${Math.abs(value).toFixed(1)} bp`;
}
