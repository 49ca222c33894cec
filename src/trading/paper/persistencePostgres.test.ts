import { describe } from 'vitest';
import { paperSuite } from '../../../test/paper/paperSuite.ts';
import { openTestPostgres } from '../../../test/support/postgres.ts';
import { openControlDatabase } from '../../controlDatabase.ts';

const postgres = await openTestPostgres();

describe.skipIf(postgres.absent)(
  `on PostgreSQL ${postgres.absent ? `(skipped: ${postgres.absent})` : ''}`,
  () => {
    paperSuite('PostgreSQL', async () =>
      openControlDatabase({ dataDir: '/nonexistent', databaseUrl: await postgres.createDatabase() }),
    );
  },
);
