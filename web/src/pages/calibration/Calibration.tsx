import { Group, Select, SimpleGrid, Slider, Stack, Text } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useEffect, useState } from 'react';
import type { EventType } from '../../../../src/schema/market.ts';
import { type Ticker, useAssets } from '../../api/assets.ts';
import { useApi } from '../../api/hooks.ts';
import type { Calibration as Answer, CalibrationBucket } from '../../api/schema.ts';
import { type Column, DataTable } from '../../ui/DataTable.tsx';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { number, percent, WINDOW_CHOICES } from '../../ui/format.ts';
import { Page } from '../../ui/Page.tsx';
import { RequestFailure } from '../../ui/RequestFailure.tsx';
import { Empty, Loading } from '../../ui/states.tsx';
import { STOPS, stopOf, timeBefore } from './minutesBefore.ts';
import { ReliabilityDiagram } from './ReliabilityDiagram.tsx';

const route = getRouteApi('/shell/calibration');
/** The shortest windows end every five minutes. */
const REFETCH_MS = 60_000;

const stopText = (stop: number) => timeBefore(STOPS[stop] ?? 0);
/** Few enough to be separate on a phone. */
const MARKS = [0, 2, 15, 60, 240, 1440].map((minutes) => ({
  value: stopOf(minutes),
  label: timeBefore(minutes),
}));

export interface CalibrationSearch {
  readonly ticker?: Ticker | undefined;
  readonly event_type?: EventType | undefined;
  readonly minutes_before: number;
  readonly buckets: number;
}

/** Share of markets that resolved Up, by their earlier price. */
export function Calibration(): ReactNode {
  const search = route.useSearch();
  const found = useApi('GET /v1/stats/calibration', { query: search }, { keep: true, refetchMs: REFETCH_MS });
  return (
    <Page
      title="Calibration"
      about="When the market said 30 %, did Up win 30 % of the time? Bars are 95 % intervals."
    >
      <Filters search={search} />
      {found.isPending && <Loading rows={8} />}
      <RequestFailure of={found} />
      {found.data !== undefined &&
        (found.data.n_markets === 0 ? <NoMarkets /> : <Shown answer={found.data} />)}
    </Page>
  );
}

function NoMarkets(): ReactNode {
  return (
    <div className="card">
      <Empty title="No resolved market matches">
        Choose fewer minutes before the end (a five-minute market has no price ten minutes before), widen the
        filters, or come back when more windows have ended.
      </Empty>
    </div>
  );
}

function Filters({ search }: { search: CalibrationSearch }): ReactNode {
  const navigate = route.useNavigate();
  const assets = useAssets();
  const [minutes, setMinutes] = useState(search.minutes_before);
  useEffect(() => setMinutes(search.minutes_before), [search.minutes_before]);
  const set = (change: Partial<CalibrationSearch>) =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true });
  return (
    <Group className="card" p="md" gap="lg" align="flex-start">
      <Select
        label="Underlying"
        placeholder="All"
        clearable
        w={130}
        data={[...assets]}
        value={search.ticker ?? null}
        onChange={(value) => set({ ticker: (value ?? undefined) as CalibrationSearch['ticker'] })}
      />
      <Select
        label="Window"
        placeholder="All"
        clearable
        w={130}
        data={WINDOW_CHOICES}
        value={search.event_type ?? null}
        onChange={(value) => set({ event_type: (value ?? undefined) as CalibrationSearch['event_type'] })}
      />
      <Select
        label="Buckets"
        w={100}
        data={['5', '10', '20']}
        allowDeselect={false}
        value={String(search.buckets)}
        onChange={(value) => set({ buckets: Number(value) })}
      />
      <Stack gap={4} style={{ flex: 1, minWidth: 220 }}>
        <Text size="sm" fw={500}>
          Price {timeBefore(minutes)} before the end
        </Text>
        <Slider
          min={0}
          max={STOPS.length - 1}
          value={stopOf(minutes)}
          onChange={(stop) => setMinutes(STOPS[stop] ?? 0)}
          onChangeEnd={(stop) => set({ minutes_before: STOPS[stop] ?? 0 })}
          label={stopText}
          thumbLabel="Time before the end"
          thumbValueText={stopText}
          mb="md"
          marks={MARKS}
        />
      </Stack>
    </Group>
  );
}

function Shown({ answer }: { answer: Answer }): ReactNode {
  const scores: Figure[] = [
    [
      'Markets',
      number(answer.n_markets),
      `${number(answer.n_without_mid)} more had no trusted price in time`,
    ],
    ['Brier score', number(answer.brier_score, 4), '0 is perfect; always saying 50 % gives 0.25'],
    ['Reliability', number(answer.reliability, 4), 'error of the stated prices; lower is better'],
    ['Resolution', number(answer.resolution, 4), 'how well prices separate outcomes; higher is better'],
    ['Uncertainty', number(answer.uncertainty, 4), 'variance of the outcomes'],
    ['Log loss', number(answer.log_loss, 4), 'in nats'],
    [
      'Calibration error',
      percent(answer.ece),
      `chance alone stays below ${percent(answer.ece_chance_p95)} in 95 of 100 samples`,
    ],
  ];
  return (
    <>
      <Figures figures={scores} cols={{ base: 2, md: 4, xl: 7 }} size="lg" />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <div className="card">
          <ReliabilityDiagram buckets={answer.buckets} />
        </div>
        <div className="card">
          <DataTable
            label="Buckets"
            columns={BUCKET_COLUMNS}
            rows={answer.buckets}
            keyOf={({ prob_lo }) => String(prob_lo)}
          />
        </div>
      </SimpleGrid>
    </>
  );
}

const BUCKET_COLUMNS: readonly Column<CalibrationBucket>[] = [
  {
    title: 'Implied',
    cell: ({ prob_lo, prob_hi }) => `${percent(prob_lo, 0)} to ${percent(prob_hi, 0)}`,
  },
  { title: 'Mean', isNumber: true, cell: ({ mean_prob }) => percent(mean_prob) },
  { title: 'Ended Up', isNumber: true, cell: ({ frac_resolved_up: share }) => percent(share) },
  {
    title: '95 % interval',
    isNumber: true,
    cell: ({ ci_lo, ci_hi }) => (ci_lo === null ? '–' : `${percent(ci_lo)} to ${percent(ci_hi)}`),
  },
  { title: 'Markets', isNumber: true, cell: ({ n_markets }) => number(n_markets) },
];
