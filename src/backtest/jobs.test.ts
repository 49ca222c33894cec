import { jobSuite } from '../../test/backtest/jobSuite.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../controlDatabase.ts';

jobSuite('SQLite', () => openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null }));
