import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { webhookSuite } from '../../../test/support/webhookSuite.ts';
import { openDatabase } from '../../control/database.ts';

webhookSuite('SQLite', () => openDatabase({ dataDir: temporaryDirectory(), databaseUrl: null }));
