import type { Kysely } from 'kysely';
import { randomBase62 } from './base62.ts';
import type { RowSources } from './ids.ts';
import type { Schema } from './schema.ts';

const LENGTH = 12;

/** A value that changes with some rows, so that every process can notice their changes at little cost. */
export class Revision {
  readonly #name: string;

  /** @param name Its name among the settings. */
  constructor(name: string) {
    this.#name = name;
  }

  /** Changes the value. Call it in the transaction that changes the rows. @returns The new value. */
  async change(db: Kysely<Schema>, { clock, randomBytes }: RowSources): Promise<string> {
    const row = { value: JSON.stringify(randomBase62(LENGTH, randomBytes)), updated_ms: clock.now() };
    await db
      .insertInto('settings')
      .values({ name: this.#name, ...row })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
      .execute();
    return row.value;
  }

  /** Empty before the first change. */
  async read(db: Kysely<Schema>): Promise<string> {
    const query = db.selectFrom('settings').select('value').where('name', '=', this.#name);
    return (await query.executeTakeFirst())?.value ?? '';
  }

  /** Keeps the value from changing until the transaction ends. @returns False if it is another one already. */
  async lock(transaction: Kysely<Schema>, value: string): Promise<boolean> {
    const { numUpdatedRows } = await transaction
      .updateTable('settings')
      .set({ value })
      .where('name', '=', this.#name)
      .where('value', '=', value)
      .executeTakeFirst();
    return Number(numUpdatedRows) > 0;
  }
}
