import { afterAll, describe } from 'vitest';
import { startPostgres } from '../../test/support/postgres.ts';
import { webhookSuite } from '../../test/support/webhookSuite.ts';
import { openDatabase } from '../accounts/database.ts';

const postgres = await startPostgres();
afterAll(() => postgres.stop());

describe.skipIf(postgres.absent)(
  `on PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    webhookSuite('PostgreSQL', async () => {
      const databaseUrl = await postgres.createDatabase();
      return await openDatabase({ dataDir: '/nonexistent', databaseUrl });
    });
  },
);
