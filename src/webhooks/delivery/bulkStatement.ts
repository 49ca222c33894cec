import type { Kysely, RawBuilder } from 'kysely';
import { CompiledStatement } from '../../control/compiledStatement.ts';
import type { Schema } from '../../control/schema.ts';

/** Rows of one statement. Powers of two up to here, so that there are few distinct statements to prepare. */
const ROWS_MAX = 128;

/** A statement over many rows, compiled once for each count of them. */
export class BulkStatement<Row> {
  readonly #build: (rows: number) => RawBuilder<unknown>;
  readonly #parametersOf: (row: Row) => readonly unknown[];
  readonly #statements = new Map<number, CompiledStatement<readonly Row[]>>();

  /**
   * @param build The statement for so many rows, whatever stands for their values.
   * @param parametersOf A row's values, in the order in which the statement has them.
   */
  constructor(build: (rows: number) => RawBuilder<unknown>, parametersOf: (row: Row) => readonly unknown[]) {
    this.#build = build;
    this.#parametersOf = parametersOf;
  }

  /** @param db Always of the same kind of database. */
  async run(db: Kysely<Schema>, rows: readonly Row[]): Promise<void> {
    for (let at = 0; at < rows.length; ) {
      const size = Math.min(ROWS_MAX, 2 ** Math.floor(Math.log2(rows.length - at)));
      await this.#statement(size).run(db, rows.slice(at, at + size));
      at += size;
    }
  }

  #statement(rows: number): CompiledStatement<readonly Row[]> {
    const known = this.#statements.get(rows);
    if (known) return known;
    const parametersOf = (values: readonly Row[]) => values.flatMap(this.#parametersOf);
    const statement = new CompiledStatement(this.#build(rows), parametersOf);
    this.#statements.set(rows, statement);
    return statement;
  }
}
