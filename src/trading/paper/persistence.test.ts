import { paperSuite } from '../../../test/paper/paperSuite.ts';
import { temporaryDirectory } from '../../../test/support/temporaryDirectory.ts';
import { openDatabase } from '../../control/database.ts';

paperSuite('SQLite', () => openDatabase({ dataDir: temporaryDirectory(), databaseUrl: null }));
