import { Text } from '@mantine/core';
import { type ReactNode, useCallback, useState } from 'react';
import type { SweepCell, SweepResult } from '../../api/schema.ts';
import { number } from '../../ui/format.ts';
import classes from './CellMap.module.css';
import { colourOf, type Metric, marksOf, type Place, rampOf, rangeOf } from './cell.ts';

interface CellMapProps {
  readonly result: SweepResult;
  readonly metric: Metric;
  readonly opened: Place | null;
  readonly open: (place: Place) => void;
  /** Name of a swept parameter. */
  readonly nameOf: (param: string) => string;
}

/** The cells of a sweep as a heat map with both axes named, and its colours. */
export function CellMap({ result, metric, opened, open, nameOf }: CellMapProps): ReactNode {
  const { x_axis, y_axis, cells } = result;
  const { ref, isCut } = useCutRight();
  const range = rangeOf(cells, metric) ?? [0, 0];
  return (
    <>
      {isCut && (
        <Text size="sm" c="dimmed">
          More columns on the right: scroll sideways →
        </Text>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard */}
      <section ref={ref} className="scroll-x" tabIndex={0} aria-label="Cells of the sweep">
        <table className={classes.map}>
          <thead>
            <tr>
              <th scope="col" rowSpan={2} className={classes.corner}>
                {y_axis === null ? 'Figure' : `${nameOf(y_axis.param)} ↓`}
              </th>
              <th scope="colgroup" colSpan={x_axis.values.length} className={classes.across}>
                {nameOf(x_axis.param)} →
              </th>
            </tr>
            <tr>
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
                      {marksOf({ x, y }, result, metric).map((mark) => (
                        <span key={mark} className={classes.note}>
                          {mark}
                        </span>
                      ))}
                    </button>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <Legend cells={cells} metric={metric} />
    </>
  );
}

function readOf(cell: SweepCell, metric: Metric): number | null {
  return cell.error === null ? metric.read(cell) : null;
}

/** Whether a part of an element is hidden to the right of what it shows. */
function useCutRight(): { ref: (node: HTMLElement | null) => (() => void) | undefined; isCut: boolean } {
  const [isCut, setCut] = useState(false);
  const ref = useCallback((node: HTMLElement | null) => {
    if (node === null) return undefined;
    // A fraction of a pixel may remain at the end.
    const measure = () => setCut(node.scrollWidth - node.clientWidth - node.scrollLeft > 1);
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    if (node.firstElementChild !== null) observer.observe(node.firstElementChild);
    node.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      node.removeEventListener('scroll', measure);
    };
  }, []);
  return { ref, isCut };
}

/** The colours from the lowest value to the highest, with a mark at zero. */
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
  const { gradient, zero } = rampOf(range, metric);
  return (
    <div
      className={classes.legend}
      role="img"
      aria-label={`Colours: ${metric.print(low)} to ${metric.print(high)}`}
    >
      <span>{metric.print(low)}</span>
      <span className={classes.ramp} style={{ background: gradient }}>
        {zero !== null && (
          <span className={classes.zero} style={{ left: `${zero}%` }}>
            0
          </span>
        )}
      </span>
      <span>{metric.print(high)}</span>
    </div>
  );
}
