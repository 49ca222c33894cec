import { describe } from 'vitest';
import { earlierTrialsSuite } from '../../test/backtest/earlierTrialsSuite.ts';
import { jobRetentionSuite } from '../../test/backtest/jobRetentionSuite.ts';
import { jobSuite } from '../../test/backtest/jobSuite.ts';
import { openTestPostgres } from '../../test/support/postgres.ts';
import { openControlDatabase } from '../controlDatabase.ts';

const postgres = await openTestPostgres();

describe.skipIf(postgres.absent)(
  `on PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    const open = async () =>
      openControlDatabase({ dataDir: '/nonexistent', databaseUrl: await postgres.createDatabase() });
    jobSuite('PostgreSQL', open);
    jobRetentionSuite('PostgreSQL', open);
    earlierTrialsSuite('PostgreSQL', open);
  },
);
