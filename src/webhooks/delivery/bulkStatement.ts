import type { Kysely, RawBuilder } from 'kysely';
import { PreparedStatement } from '../../control/preparedStatement.ts';
import type { Schema } from '../../control/schema.ts';

/** Rows per statement. Only powers of two up to this are used, so that few distinct statements are prepared. */
const ROWS_MAX = 128;

/** A statement over many rows, compiled once per row count. */
export class BulkStatement<Row> {
  readonly #build: (rows: number) => RawBuilder<unknown>;
  readonly #parametersOf: (row: Row) => readonly unknown[];
  readonly #statements = new Map<number, PreparedStatement<readonly Row[]>>();

  /**
   * @param build The statement for a number of rows, with placeholders for their values.
   * @param parametersOf A row's values, in the order of the statement.
   */
  constructor(build: (rows: number) => RawBuilder<unknown>, parametersOf: (row: Row) => readonly unknown[]) {
    this.#build = build;
    this.#parametersOf = parametersOf;
  }

  /** @param db Always the same kind of database. */
  async run(db: Kysely<Schema>, rows: readonly Row[]): Promise<void> {
    for (let at = 0; at < rows.length; ) {
      const size = Math.min(ROWS_MAX, 2 ** Math.floor(Math.log2(rows.length - at)));
      await this.#statement(size).run(db, rows.slice(at, at + size));
      at += size;
    }
  }

  #statement(rows: number): PreparedStatement<readonly Row[]> {
    const known = this.#statements.get(rows);
    if (known) return known;
    const parametersOf = (values: readonly Row[]) => values.flatMap(this.#parametersOf);
    const statement = new PreparedStatement(this.#build(rows), parametersOf);
    this.#statements.set(rows, statement);
    return statement;
  }
}
