import { jobRetentionSuite } from '../../test/backtest/jobRetentionSuite.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../controlDatabase.ts';

jobRetentionSuite('SQLite', () => openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null }));
