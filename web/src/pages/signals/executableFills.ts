import type { AuditRow } from '../../api/schema.ts';
import { cents } from '../../ui/format.ts';

type Fills = Pick<AuditRow, 'executable'>;

/** The delays after detection for which any row has a fill, ascending, in milliseconds. */
export function delaysOf(rows: readonly Fills[]): number[] {
  const delays = rows.flatMap(({ executable }) => executable.map(({ after_ms }) => after_ms));
  return [...new Set(delays)].sort((a, b) => a - b);
}

/** The average price at which a signal would have filled after a delay, or why there is none. */
export function fillText({ executable }: Fills, afterMs: number): string {
  const fill = executable.find(({ after_ms }) => after_ms === afterMs);
  if (fill === undefined) return 'not known yet';
  return fill.fill_price === null ? 'no fill' : cents(fill.fill_price);
}
