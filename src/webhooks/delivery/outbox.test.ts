import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { webhookSuite } from '../../../test/support/webhookSuite.ts';
import { openControlDatabase } from '../../controlDatabase.ts';

webhookSuite('SQLite', () => openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null }));
