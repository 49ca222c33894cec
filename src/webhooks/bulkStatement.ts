import type { CompiledQuery, Kysely, RawBuilder } from 'kysely';
import type { Schema } from '../accounts/schema.ts';

/** Rows of one statement. Powers of two up to here, so that there are few distinct statements to prepare. */
const ROWS_MAX = 128;

/** A statement over many rows, compiled once for each count of them: building it anew costs as much as running it. */
export class BulkStatement<Row> {
  readonly #build: (rows: number) => RawBuilder<unknown>;
  readonly #parametersOf: (row: Row) => readonly unknown[];
  readonly #compiled = new Map<number, CompiledQuery>();

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
      const parameters = rows.slice(at, at + size).flatMap(this.#parametersOf);
      await db.executeQuery({ ...this.#statement(db, size), parameters });
      at += size;
    }
  }

  #statement(db: Kysely<Schema>, rows: number): CompiledQuery {
    const known = this.#compiled.get(rows);
    if (known) return known;
    const compiled = this.#build(rows).compile(db);
    this.#compiled.set(rows, compiled);
    return compiled;
  }
}
