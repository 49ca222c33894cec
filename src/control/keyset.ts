/** Pages that continue after a row, ordered by two columns: no row appears twice when others are added. */
import type { ExpressionBuilder, ExpressionWrapper, ReferenceExpression, SqlBool } from 'kysely';

/** A column of the order, and its value in the row after which a page continues. */
type Placed<DB, TB extends keyof DB> = readonly [column: ReferenceExpression<DB, TB>, value: number | string];

/**
 * Selects the rows before or after a position. The second column orders rows with equal values in the first. Both
 * databases find the position in an index of the two columns, so that a page costs the same at any depth.
 * @param side `<`: before the position, in ascending order of both columns; `>`: after it.
 */
export function beyondPlace<DB, TB extends keyof DB>(
  row: ExpressionBuilder<DB, TB>,
  side: '<' | '>',
  [[first, firstValue], [second, secondValue]]: readonly [Placed<DB, TB>, Placed<DB, TB>],
): ExpressionWrapper<DB, TB, SqlBool> {
  return row(
    row.refTuple(first as never, second as never),
    side,
    row.tuple(firstValue, secondValue) as never,
  );
}
