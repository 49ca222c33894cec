import { describe } from 'vitest';
import { jobSuite } from '../../test/backtest/jobSuite.ts';
import { openTestPostgres } from '../../test/support/postgres.ts';
import { openDatabase } from '../accounts/database.ts';

const postgres = await openTestPostgres();

describe.skipIf(postgres.absent)(
  `on PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    jobSuite('PostgreSQL', async () =>
      openDatabase({ dataDir: '/nonexistent', databaseUrl: await postgres.createDatabase() }),
    );
  },
);
