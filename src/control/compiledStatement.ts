import type { CompiledQuery, Kysely, QueryResult, RawBuilder } from 'kysely';
import type { Schema } from './schema.ts';

/** A statement compiled once: building it anew costs as much as running it. */
export class CompiledStatement<Values, Row = unknown> {
  readonly #text: RawBuilder<Row>;
  readonly #parametersOf: (values: Values) => readonly unknown[];
  #compiled: CompiledQuery<Row> | null = null;

  /**
   * @param text The statement, whatever stands for its values.
   * @param parametersOf The values, in the order in which the statement has them.
   */
  constructor(text: RawBuilder<Row>, parametersOf: (values: Values) => readonly unknown[]) {
    this.#text = text;
    this.#parametersOf = parametersOf;
  }

  /** @param db Always of the same kind of database. */
  async run(db: Kysely<Schema>, values: Values): Promise<QueryResult<Row>> {
    this.#compiled ??= this.#text.compile(db);
    return await db.executeQuery<Row>({ ...this.#compiled, parameters: this.#parametersOf(values) });
  }
}
