import type { CompiledQuery, Kysely, QueryResult, RawBuilder } from 'kysely';
import type { Schema } from './schema.ts';

/** A statement compiled once: compiling it again costs as much as running it. */
export class PreparedStatement<Values, Row = unknown> {
  readonly #text: RawBuilder<Row>;
  readonly #parametersOf: (values: Values) => readonly unknown[];
  #compiled: CompiledQuery<Row> | null = null;

  /**
   * @param text The statement with placeholders of any value.
   * @param parametersOf Returns the values in the order of the statement's placeholders.
   */
  constructor(text: RawBuilder<Row>, parametersOf: (values: Values) => readonly unknown[]) {
    this.#text = text;
    this.#parametersOf = parametersOf;
  }

  /** @param db Must always be the same kind of database. */
  async run(db: Kysely<Schema>, values: Values): Promise<QueryResult<Row>> {
    this.#compiled ??= this.#text.compile(db);
    return await db.executeQuery<Row>({ ...this.#compiled, parameters: this.#parametersOf(values) });
  }
}
