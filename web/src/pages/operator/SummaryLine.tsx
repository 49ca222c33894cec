import { type ReactNode, useRef } from 'react';
import { useApi } from '../../api/hooks.ts';
import type { OperatorSummary } from '../../api/schema.ts';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { bytes, duration, number } from '../../ui/format.ts';
import { FiguresFrame } from '../../ui/frames.tsx';
import { lastAnswer, RequestFailure } from '../../ui/RequestFailure.tsx';
import { feedsFigure } from './feedsFigure.ts';
import { growthText } from './growthText.ts';

const REFETCH_MS = 3_000;
const FEEDS_MS = 5_000;

/** The state of the service in one line: health, lag, rows a second, disk, feeds and gaps. */
export function SummaryLine(): ReactNode {
  const summary = useApi('GET /app/operator/summary', {}, { refetchMs: REFETCH_MS });
  const feeds = useApi('GET /app/feeds', {}, { refetchMs: FEEDS_MS });
  const state = useApi('GET /app/state', {}, { refetchMs: REFETCH_MS });
  const rate = useRowRate(summary.data);
  if (summary.isPending) return <FiguresFrame />;
  const known = lastAnswer(summary);
  if (known === undefined) return <RequestFailure of={summary} />;
  const { disk_free_bytes: free, stored_bytes: stored } = known;
  const figures: Figure[] = [
    [
      'Service',
      state.data === undefined ? '–' : state.data.ready ? 'ready' : 'not ready',
      reasonsOf(state.data),
    ],
    ['Stored data', state.data === undefined ? '–' : `${duration(state.data.store_lag_seconds)} behind`],
    rowsFigure(known, rate),
    ['Disk free', bytes(free), growthText(known, Date.parse(known.as_of))],
    ['Recording', bytes(stored), stored === null ? 'not measured yet' : undefined],
    feeds.data === undefined ? ['Feeds', '–'] : ['Feeds', ...feedsFigure(feeds.data)],
  ];
  return (
    <>
      <RequestFailure of={summary} />
      <Figures figures={figures} cols={{ base: 2, sm: 3, lg: 6 }} />
    </>
  );
}

/** Rows a second between the last two different answers; null until there are two. */
function useRowRate(summary: OperatorSummary | undefined): number | null {
  const seen = useRef<{ at: number; rows: number; rate: number | null } | null>(null);
  if (summary?.rows_inserted === null || summary === undefined) return null;
  const [at, rows, last] = [Date.parse(summary.as_of), summary.rows_inserted, seen.current];
  if (last === null || rows < last.rows) seen.current = { at, rows, rate: null };
  else if (at > last.at) seen.current = { at, rows, rate: ((rows - last.rows) / (at - last.at)) * 1000 };
  return seen.current?.rate ?? null;
}

function reasonsOf(state: { reasons: readonly string[] } | undefined): string | undefined {
  return state === undefined || state.reasons.length === 0 ? undefined : state.reasons.join(', ');
}

/** A rate needs two answers. */
function rowsFigure({ rows_inserted: rows }: OperatorSummary, rate: number | null): Figure {
  if (rate !== null) return ['Rows stored', `${number(Math.round(rate))} / s`];
  return ['Rows stored', '–', rows === null ? 'this process does not store' : 'known after the next answer'];
}
