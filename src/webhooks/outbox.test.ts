import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { webhookSuite } from '../../test/support/webhookSuite.ts';
import { openDatabase } from '../accounts/database.ts';

webhookSuite('SQLite', () => openDatabase({ dataDir: temporaryDirectory(), databaseUrl: null }));
