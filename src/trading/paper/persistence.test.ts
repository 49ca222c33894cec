import { paperSuite } from '../../../test/paper/paperSuite.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { openControlDatabase } from '../../controlDatabase.ts';

paperSuite('SQLite', () => openControlDatabase({ dataDir: temporaryDirectory(), databaseUrl: null }));
