import { describe } from 'vitest';
import { openTestPostgres } from '../../../test/support/postgres.ts';
import { webhookSuite } from '../../../test/support/webhookSuite.ts';
import { openControlDatabase } from '../../controlDatabase.ts';

const postgres = await openTestPostgres();

describe.skipIf(postgres.absent)(
  `on PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    webhookSuite('PostgreSQL', async () => {
      const databaseUrl = await postgres.createDatabase();
      return await openControlDatabase({ dataDir: '/nonexistent', databaseUrl });
    });
  },
);
