import { jobSuite } from '../../test/backtest/jobSuite.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { openDatabase } from '../control/database.ts';

jobSuite('SQLite', () => openDatabase({ dataDir: temporaryDirectory(), databaseUrl: null }));
