import { Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { SweepResult } from '../../api/schema.ts';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { number, percent } from '../../ui/format.ts';
import { WrappingChoice } from '../../ui/WrappingChoice.tsx';
import { CellMap } from './CellMap.tsx';
import { METRICS, type Metric, type MetricName, type Place, type SweepJob } from './cell.ts';
import { sweepable } from './draft.ts';
import { SweepCellCard } from './SweepCellCard.tsx';
import { VerdictCard } from './VerdictCard.tsx';
import { earlierText, sweepVerdictOf } from './verdict.ts';

const FIGURES = Object.entries(METRICS).map(([value, { label }]) => ({ value: value as MetricName, label }));

/** The verdict on a sweep, its cells as a heat map, and the opened cell. */
export function Sweep({ job }: { job: SweepJob }): ReactNode {
  const { result, strategy } = job;
  const { best, x_axis, y_axis, cells } = result;
  const [name, setName] = useState<MetricName>('total_pnl');
  const [opened, setOpened] = useState<Place | null>(best);
  const nameOf = (param: string) => sweepable(strategy)[param] ?? param;
  const metric: Metric = METRICS[name];
  const cell = opened === null ? undefined : cells[opened.y]?.[opened.x];
  return (
    <>
      <VerdictCard verdict={sweepVerdictOf(result)}>
        <Luck result={result} />
      </VerdictCard>
      <Stack className="card" p="md">
        <Text component="h2" fw={600}>
          {metric.label} by {nameOf(x_axis.param)}
          {y_axis === null ? '' : ` and ${nameOf(y_axis.param)}`}
        </Text>
        <WrappingChoice label="Figure of the cells" items={FIGURES} value={name} choose={setName} />
        <CellMap result={result} metric={metric} opened={opened} open={setOpened} nameOf={nameOf} />
        {best !== null && (
          <Text size="sm" c="dimmed">
            The verdict is on the cell with the best Sharpe, whichever figure is shown.
          </Text>
        )}
      </Stack>
      {opened !== null && cell !== undefined && (
        <SweepCellCard
          job={job}
          cell={cell}
          isBest={best?.x === opened.x && best.y === opened.y}
          values={[
            [x_axis.param, x_axis.values[opened.x] ?? 0],
            ...(y_axis === null ? [] : [[y_axis.param, y_axis.values[opened.y] ?? 0] as const]),
          ]}
          nameOf={nameOf}
        />
      )}
    </>
  );
}

/** What the verdict follows from. */
function Luck({ result }: { result: SweepResult }): ReactNode {
  const figures: Figure[] = [
    ['Cells tried', number(result.n_trials), triedText(result)],
    ['Deflated Sharpe', percent(result.deflated_sharpe)],
    ['Overfitting (PBO)', percent(result.pbo)],
    ['Min track record (markets)', number(result.min_track_record_markets)],
  ];
  return (
    <Stack gap="xs">
      <Figures figures={figures} cols={{ base: 2, md: 4 }} />
      {result.warnings.map((warning) => (
        <Text key={warning} size="sm">
          {warning.charAt(0).toUpperCase() + warning.slice(1)}.
        </Text>
      ))}
      <Text size="sm" c="dimmed">
        The best cell has the highest Sharpe ratio per market. The best of many looks good by chance. Deflated
        Sharpe is the probability that the best ratio is not luck, given all cells tried. PBO is how often the
        best cell on one half of the markets is below the median on the other half.
      </Text>
    </Stack>
  );
}

/** E.g. `equivalent to 3.2 independent cells; 17 earlier trials on this series`. */
function triedText({ n_trials_effective, n_trials_before }: SweepResult): string {
  const before = earlierText(n_trials_before);
  return n_trials_effective === null
    ? before
    : `equivalent to ${number(n_trials_effective, 1)} independent cells; ${before}`;
}
