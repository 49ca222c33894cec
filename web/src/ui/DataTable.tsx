import { Fragment, type ReactNode } from 'react';
import classes from './DataTable.module.css';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Aligned right, so that the decimals of a column are below each other. */
  readonly isNumber?: boolean;
  /** A long text that may be broken anywhere; other cells stay on one line. */
  readonly isText?: boolean;
}

/**
 * A table that becomes one card for each row on a phone: the first column is the card's heading, every other cell has
 * its column's title before it. The keys j and k move between the first links or buttons of its rows.
 */
export function DataTable<Row>({
  label,
  columns,
  rows,
  keyOf,
  below,
  maxHeight,
}: {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Details below a row over its whole width; false: none. */
  below?: (row: Row) => ReactNode | false;
  /** Pixels; a longer table scrolls below its fixed head. */
  maxHeight?: number;
}): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a part that scrolls must be reachable by keyboard
    // biome-ignore lint/a11y/useSemanticElements: it is no group of form fields
    <div className={classes.frame} role="group" aria-label={label} tabIndex={0} style={{ maxHeight }}>
      <table className={classes.table} aria-label={label}>
        <thead>
          <tr>
            {columns.map(({ title, isNumber }) => (
              <th key={title} scope="col" className={isNumber ? classes.number : undefined}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const details = below?.(row);
            return (
              <Fragment key={keyOf(row)}>
                <tr data-row="">
                  {columns.map((column) => (
                    <Cell key={column.title} column={column} row={row} />
                  ))}
                </tr>
                {details !== undefined && details !== null && details !== false && (
                  <tr>
                    <td colSpan={columns.length} className={classes.below}>
                      {details}
                    </td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function Cell<Row>({ column, row }: { column: Column<Row>; row: Row }): ReactNode {
  const { title, cell, isNumber, isText } = column;
  const kind = isNumber ? classes.number : isText ? classes.text : undefined;
  return (
    <td data-title={title} className={kind}>
      {cell(row)}
    </td>
  );
}
