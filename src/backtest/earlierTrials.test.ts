import { earlierTrialsSuite } from '../../test/backtest/earlierTrialsSuite.ts';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../controlDatabase.ts';

earlierTrialsSuite('SQLite', () => openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null }));
