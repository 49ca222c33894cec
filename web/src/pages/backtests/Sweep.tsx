import { SegmentedControl, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { SweepCell, SweepResult } from '../../api/schema.ts';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { number, percent } from '../../ui/format.ts';
import { colourOf, METRICS, type Metric, type MetricName, rangeOf, type SweepJob } from './cell.ts';
import { sweepable } from './draft.ts';
import classes from './Sweep.module.css';
import { SweepCellCard } from './SweepCellCard.tsx';
import { VerdictCard } from './VerdictCard.tsx';
import { earlierText, sweepVerdictOf } from './verdict.ts';

interface Place {
  readonly x: number;
  readonly y: number;
}

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
        <SegmentedControl
          aria-label="Figure of the cells"
          data={Object.entries(METRICS).map(([value, { label }]) => ({ value, label }))}
          value={name}
          onChange={(value) => setName(value as MetricName)}
          style={{ alignSelf: 'flex-start', maxWidth: '100%', overflowX: 'auto' }}
        />
        <HeatMap
          result={result}
          metric={metric}
          opened={opened}
          open={setOpened}
          heading={nameOf((y_axis ?? x_axis).param)}
        />
        <Legend cells={cells} metric={metric} />
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

function HeatMap({
  result: { best, x_axis, y_axis, cells },
  metric,
  opened,
  open,
  heading,
}: {
  result: SweepResult;
  metric: Metric;
  opened: Place | null;
  open: (place: Place) => void;
  heading: string;
}): ReactNode {
  const range = rangeOf(cells, metric) ?? [0, 0];
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard
    <section className="scroll-x" tabIndex={0} aria-label="Cells of the sweep">
      <table className={classes.map}>
        <thead>
          <tr>
            <th scope="col">{heading}</th>
            {x_axis.values.map((value) => (
              <th scope="col" key={value}>
                {number(value)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cells.map((row, y) => (
            <tr key={y_axis?.values[y] ?? 'only'}>
              <th scope="row">{y_axis === null ? metric.label : number(y_axis.values[y])}</th>
              {row.map((cell, x) => (
                <td
                  key={x_axis.values[x]}
                  style={{ background: colourOf(readOf(cell, metric), range, metric) }}
                >
                  <button
                    type="button"
                    className={classes.cell}
                    aria-pressed={opened?.x === x && opened.y === y}
                    onClick={() => open({ x, y })}
                  >
                    {cell.error === null ? metric.print(metric.read(cell)) : 'not run'}
                    {best?.x === x && best.y === y && <span className={classes.note}>best</span>}
                  </button>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function readOf(cell: SweepCell, metric: Metric): number | null {
  return cell.error === null ? metric.read(cell) : null;
}

/** The colours from the lowest value to the highest. */
function Legend({ cells, metric }: { cells: SweepResult['cells']; metric: Metric }): ReactNode {
  const range = rangeOf(cells, metric);
  if (range === null) {
    return (
      <Text size="sm" c="dimmed">
        No cell has this figure: it needs more trades.
      </Text>
    );
  }
  const [low, high] = range;
  const stops = [low, 0, high].map((value) => colourOf(value, range, metric));
  const zero = high === low ? 0 : (-low / (high - low)) * 100;
  return (
    <div
      className={classes.legend}
      role="img"
      aria-label={`Colours: ${metric.print(low)} to ${metric.print(high)}`}
    >
      <span>{metric.print(low)}</span>
      <span
        className={classes.ramp}
        style={{ background: `linear-gradient(to right, ${stops[0]}, ${stops[1]} ${zero}%, ${stops[2]})` }}
      />
      <span>{metric.print(high)}</span>
    </div>
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
