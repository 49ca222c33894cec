import { earlierTrialsSuite } from '../../test/backtest/earlierTrialsSuite.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { openDatabase } from '../control/database.ts';

earlierTrialsSuite('SQLite', () => openDatabase({ dataDir: temporaryDirectory(), databaseUrl: null }));
