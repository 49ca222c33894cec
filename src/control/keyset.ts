/** Pages that continue after a row, in an order of two columns: no row is shown twice when others are added. */
import type { ExpressionBuilder, ExpressionWrapper, ReferenceExpression, SqlBool } from 'kysely';

/** A column of the order with the value of the row that a page continues after. */
type Placed<DB, TB extends keyof DB> = readonly [column: ReferenceExpression<DB, TB>, value: number | string];

/**
 * Rows on one side of a place. The second column tells rows apart that are equal in the first.
 * @param side `<`: before the place, in rising order of both columns; `>`: after it.
 */
export function beyondPlace<DB, TB extends keyof DB>(
  row: ExpressionBuilder<DB, TB>,
  side: '<' | '>',
  [[first, firstValue], [second, secondValue]]: readonly [Placed<DB, TB>, Placed<DB, TB>],
): ExpressionWrapper<DB, TB, SqlBool> {
  const is = (column: ReferenceExpression<DB, TB>, operator: '<' | '>' | '=', value: number | string) =>
    row(column, operator, value as never);
  return row.or([
    is(first, side, firstValue),
    row.and([is(first, '=', firstValue), is(second, side, secondValue)]),
  ]);
}
