import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { MIGRATION_DATABASES } from '../../test/support/migrationDatabases.ts';
import { MIGRATIONS } from '../controlDatabase.ts';

const FIRST = '0008_webhook_secrets';

describe.each(MIGRATION_DATABASES)('webhooks of an earlier release on %s', (_driver, absent, open) => {
  it.skipIf(absent)('keep the secret before their last rotation', async () => {
    const db = await open();
    for (const [name, { up }] of Object.entries(MIGRATIONS)) if (name < FIRST) await up(db);
    await sql`insert into users (user_id, email, tier, created_ms) values ('u', 'a@b', 'premium', 1)`.execute(
      db,
    );
    const add = (id: string, box: string | null, untilMs: number | null) =>
      sql`insert into webhooks (webhook_id, user_id, url, label, tiers, secret_box, previous_secret_box,
        previous_until_ms, state, consecutive_failures, created_ms, active_since_ms)
        values (${id}, 'u', 'https://x/', 'x', '[]', 'v1.now', ${box}, ${untilMs}, 'active', 0, 1, 1)`.execute(
        db,
      );
    await add('wh_rotated', 'v1.a+/=', 1_795_219_200_123);
    await add('wh_never', null, null);
    for (const [name, { up }] of Object.entries(MIGRATIONS)) if (name >= FIRST) await up(db);
    const rows = await sql<{ previous_secrets: string }>`select * from webhooks order by webhook_id`.execute(
      db,
    );
    expect(rows.rows).toMatchObject([
      { webhook_id: 'wh_never', secret_box: 'v1.now', previous_secrets: '[]', filters_since: '{}' },
      {
        ...{ webhook_id: 'wh_rotated', secret_box: 'v1.now' },
        previous_secrets: '[{"box":"v1.a+/=","until_ms":1795219200123}]',
      },
    ]);
    expect(rows.rows[0]).not.toHaveProperty('previous_secret_box');
    await db.destroy();
  });
});
