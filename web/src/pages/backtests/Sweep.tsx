import { Alert, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { SweepCell, SweepResult } from '../../api/schema.ts';
import type { Strategy } from '../../strategy/strategies.ts';
import { type Figure, Figures } from '../../ui/Figures.tsx';
import { number, percent, usd } from '../../ui/format.ts';
import { sweepable } from './draft.ts';
import classes from './Sweep.module.css';

/** All cells of a sweep by their P&L, and the probability that the best one is luck. */
export function Sweep({ result, strategy }: { result: SweepResult; strategy: Strategy }): ReactNode {
  const { best, x_axis, y_axis, cells } = result;
  const nameOf = (param: string) => sweepable(strategy)[param] ?? param;
  const figures: Figure[] = [
    ['Cells tried', number(result.n_trials), triedText(result)],
    ['Deflated Sharpe', percent(result.deflated_sharpe)],
    ['Overfitting (PBO)', percent(result.pbo)],
    ['Min track record (markets)', number(result.min_track_record_markets)],
  ];
  const largest = Math.max(0.01, ...cells.flat().map(({ total_pnl }) => Math.abs(total_pnl)));
  return (
    <>
      <Figures figures={figures} cols={{ base: 2, md: 4 }} size="lg" />
      {result.warnings.map((warning) => (
        <Alert key={warning} color="orange" title={warning} />
      ))}
      <Stack className="card" p="md">
        <Text component="h2" fw={600}>
          P&L by {nameOf(x_axis.param)}
          {y_axis === null ? '' : ` and ${nameOf(y_axis.param)}`}
        </Text>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
        <section className="scroll-x" tabIndex={0} aria-label="Cells of the sweep">
          <table className={classes.map}>
            <thead>
              <tr>
                <th scope="col">{nameOf((y_axis ?? x_axis).param)}</th>
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
                  <th scope="row">{y_axis === null ? 'P&L' : number(y_axis.values[y])}</th>
                  {row.map((cell, x) => (
                    <Cell
                      key={x_axis.values[x]}
                      cell={cell}
                      largest={largest}
                      isBest={best?.x === x && best.y === y}
                    />
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
        <Text size="sm" c="dimmed">
          The best cell has the highest Sharpe ratio per market. The best of many looks good by chance.
          Deflated Sharpe is the probability that the best ratio is not luck, given all cells tried. PBO is
          how often the best cell on one half of the markets is below the median on the other half.
        </Text>
      </Stack>
    </>
  );
}

/** E.g. `equivalent to 3.2 independent cells; 17 earlier trials on this series`. */
function triedText({ n_trials_effective, n_trials_before }: SweepResult): string {
  const before = `${number(n_trials_before)} earlier trials on this series`;
  return n_trials_effective === null
    ? before
    : `equivalent to ${number(n_trials_effective, 1)} independent cells; ${before}`;
}

function Cell({ cell, largest, isBest }: { cell: SweepCell; largest: number; isBest: boolean }): ReactNode {
  const strength = Math.round((Math.abs(cell.total_pnl) / largest) * 35);
  const colour = cell.total_pnl >= 0 ? '18 184 134' : '230 73 128';
  return (
    <td
      className={isBest ? classes.best : undefined}
      style={{ background: `rgb(${colour} / ${strength}%)` }}
      title={`${cell.trades_total} trades, won ${percent(cell.win_rate)}, Sharpe per market ${number(cell.sharpe_per_market)}`}
    >
      {cell.error ?? usd(cell.total_pnl)}
      {isBest && <span className={classes.note}>best</span>}
    </td>
  );
}
