import { Group, SegmentedControl, Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { Market } from '../../api/schema.ts';
import { ChartGroupContext, makeChartGroup, useShared } from '../../charts/chartGroup.ts';
import type { Band } from '../../charts/chartOptions.ts';
import type { DrawnTrade } from '../../charts/drawnTrades.ts';
import { TimeZoneChoice } from '../../charts/TimeZoneChoice.tsx';
import { useServiceTime } from '../../live/useServiceClock.ts';
import { BookPanel } from './BookPanel.tsx';
import { spanOf, useTape } from './data.ts';
import { HeatMap } from './HeatMap.tsx';
import { PointsDownload, PriceCharts } from './MidCharts.tsx';
import { PlayerBar } from './PlayerBar.tsx';
import { usePlayback } from './playback.ts';
import classes from './Recording.module.css';
import { TradeTape } from './TradeTape.tsx';
import { useBook } from './useBook.ts';
import { usePlaybackKeys } from './usePlaybackKeys.ts';

/** Delay after the last step by keyboard before the page's address names the time. */
const ADDRESS_MS = 400;

/**
 * The recording of one market: charts, book and tape at one time, which the reader chooses or plays.
 * @param at The time in the page's address, Unix ms.
 */
export function Recording({
  market,
  at,
  bands,
  trades,
  onAt,
}: {
  market: Market;
  at: number | null;
  bands: readonly Band[];
  trades: readonly DrawnTrade[] | undefined;
  onAt: (timeMs: number) => void;
}): ReactNode {
  const group = useMemo(makeChartGroup, []);
  const [view, setView] = useState<'line' | 'candles'>('line');
  const { fromMs, toMs } = spanOf(market);
  const latest = Math.max(Math.min(toMs, useServiceTime()), fromMs);
  const moment = useShared(group.moment);
  const timeMs = moment === null ? (at ?? latest) : Math.round(moment * 1000);
  const playback = usePlayback(group, { from: fromMs / 1000, to: latest / 1000 }, (time) =>
    onAt(Math.round(time * 1000)),
  );
  const shown = useBook(market, { timeMs, ...playback });
  const tape = useTape(market);
  const move = useCallback((time: number) => group.moment.set(time / 1000), [group]);
  const pick = useCallback(
    (time: number) => {
      move(time);
      onAt(Math.round(time));
    },
    [move, onAt],
  );
  useEffect(() => {
    if (at !== null) group.moment.set(at / 1000);
  }, [at, group]);
  useAddressOf(moment, { at, isPlaying: playback.isPlaying, onAt });
  const step = async (way: 1 | -1) => {
    playback.pause();
    const found = await shown.findChange(timeMs, way);
    if (found !== null && found >= fromMs && found <= toMs) move(found);
  };
  usePlaybackKeys({ onToggle: playback.toggle, onStep: (way) => void step(way) });
  return (
    <ChartGroupContext value={group}>
      <Stack className="card" p="md" gap="sm" component="section" aria-label="Recording">
        <Group justify="space-between" gap="sm">
          <Title order={2} size="h4">
            Probability, underlying and depth
          </Title>
          <Group gap="xs">
            <SegmentedControl
              aria-label="Chart type"
              size="xs"
              data={[
                { value: 'line', label: 'Lines' },
                { value: 'candles', label: 'Candles' },
              ]}
              value={view}
              onChange={(value) => setView(value as typeof view)}
            />
            <TimeZoneChoice timeMs={timeMs} />
          </Group>
        </Group>
        <PlayerBar
          playback={playback}
          timeMs={timeMs}
          range={[fromMs, latest]}
          onMove={move}
          onChosen={pick}
          onStep={(way) => void step(way)}
        />
        <div className={classes.columns}>
          <div className={classes.charts}>
            <PriceCharts
              market={market}
              bands={bands}
              trades={trades}
              {...(tape.trades === undefined ? {} : { tape: tape.trades })}
              hasCandles={view === 'candles'}
              onPick={pick}
            />
            <HeatMap market={market} bands={bands} onPick={pick} />
            <PointsDownload market={market} />
            <Text size="xs" c="dimmed">
              Circles are trades (filled: the taker expects Up; area: shares). Striped areas are gaps. Click a
              chart to see the book at that time; drag to zoom, or use Ctrl and the wheel. Keys: space plays,
              ← and → step to the next change; in a chart + and − zoom, Esc shows all.
            </Text>
          </div>
          <div className={classes.side}>
            <BookPanel market={market} shown={shown} />
            <TradeTape tape={tape} timeMs={timeMs} onPick={pick} />
          </div>
        </div>
      </Stack>
    </ChartGroupContext>
  );
}

/** Writes the chosen time into the page's address once it rests. */
function useAddressOf(
  moment: number | null,
  { at, isPlaying, onAt }: { at: number | null; isPlaying: boolean; onAt: (timeMs: number) => void },
): void {
  const write = useRef(onAt);
  write.current = onAt;
  const timeMs = moment === null ? null : Math.round(moment * 1000);
  useEffect(() => {
    if (timeMs === null || timeMs === at || isPlaying) return;
    const timer = setTimeout(() => write.current(timeMs), ADDRESS_MS);
    return () => clearTimeout(timer);
  }, [timeMs, at, isPlaying]);
}
