import type { Figure } from './figure.ts';
import { median } from './quantile.ts';

/** How much worse than the committed result a figure may be, as a share of it. */
const WORSE_MAX = 0.15;

/** One figure of a part, as a committed result holds it. */
export interface MeasuredFigure extends Figure {
  part: string;
}

/** The result of `npm run bench -- --json FILE`. */
export interface BenchResult {
  /** ISO time at which the run began. */
  measured_at: string;
  node: string;
  /** Number and model of the processors. */
  cpu: string;
  memory_gib: number;
  /** How often each part ran; each value is the median of these runs. */
  runs: number;
  figures: MeasuredFigure[];
}

/**
 * Each figure with the median of its values. The n-th figure of every run must have the same name: a name alone is not
 * enough, because a part may use it for several cases.
 * @param runs The figures of a part, one list for each run; at least one.
 */
export function mediansOf(runs: readonly (readonly Figure[])[]): Figure[] {
  const [first = []] = runs;
  return first.map((figure, index) => {
    const values = runs.map((figures) => {
      const same = figures[index];
      if (same?.name !== figure.name) throw new Error(`“${figure.name}” was not measured in every run`);
      return same.value;
    });
    return { ...figure, value: median(values) };
  });
}

/**
 * A line for each figure of the committed result that is more than 15 % worse now, or that was not measured although
 * its part ran. Compares only figures with a direction (`better`): the others depend on the machine.
 */
export function regressions(now: readonly MeasuredFigure[], before: readonly MeasuredFigure[]): string[] {
  const parts = new Set(now.map(({ part }) => part));
  return before.flatMap(({ part, name, value, unit, better }) => {
    if (better === undefined || !parts.has(part)) return [];
    const measured = now.find((figure) => figure.part === part && figure.name === name);
    const what = `${part}: ${name.trim()}`;
    if (measured === undefined) return [`${what}: in the committed result, not measured now`];
    const worse = better === 'more' ? value / measured.value - 1 : measured.value / value - 1;
    // Written so that a value that is not a number fails too.
    if (worse <= WORSE_MAX) return [];
    const change = `${rounded(value)} ${unit} before, ${rounded(measured.value)} ${unit} now`;
    return [`${what}: ${change} (${Math.round(100 * worse)} % worse, at most ${100 * WORSE_MAX} %)`];
  });
}

const rounded = (value: number) => String(Number(value.toPrecision(4)));
