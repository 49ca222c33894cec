import { describe } from 'vitest';
import { openTestPostgres } from '../../../test/support/postgres.ts';
import { webhookSuite } from '../../../test/support/webhookSuite.ts';
import { openDatabase } from '../../control/database.ts';

const postgres = await openTestPostgres();

describe.skipIf(postgres.absent)(
  `on PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    webhookSuite('PostgreSQL', async () => {
      const databaseUrl = await postgres.createDatabase();
      return await openDatabase({ dataDir: '/nonexistent', databaseUrl });
    });
  },
);
