import type { Kysely } from 'kysely';
import { randomBase62 } from '../../control/base62.ts';
import type { RowSources } from '../../control/ids.ts';
import type { Schema } from '../../control/schema.ts';

const NAME = 'webhooks_revision';
const LENGTH = 12;

/** Notifies every sender, of any process, that registrations changed. Call it in the transaction that changes them. */
export async function noteChange(db: Kysely<Schema>, { clock, randomBytes }: RowSources): Promise<void> {
  const row = { value: JSON.stringify(randomBase62(LENGTH, randomBytes)), updated_ms: clock.now() };
  await db
    .insertInto('settings')
    .values({ name: NAME, ...row })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
    .execute();
}

/** A different value means that registrations changed. */
export async function readRevision(db: Kysely<Schema>): Promise<string> {
  const query = db.selectFrom('settings').select('value').where('name', '=', NAME);
  return (await query.executeTakeFirst())?.value ?? '';
}
