import { StoreUnavailableError } from '../runtime/errors.ts';
import { SqliteFile } from './sqliteFile.ts';

/** Detects commits to a SQLite file. */
interface DatabaseVersion {
  /**
   * Returns another number whenever any connection of any process has committed since the last call; takes about 3
   * microseconds.
   * @throws {StoreUnavailableError} When the file cannot be read.
   */
  read(): number;
  close(): void;
}

/**
 * SQLite counts only commits of *other* connections. This connection writes nothing, so it also sees the commits of
 * this process.
 * @see https://www.sqlite.org/pragma.html#pragma_data_version
 */
export function watchVersion(path: string): DatabaseVersion {
  const file = new SqliteFile(path, { readOnly: true });
  const version = file.value('PRAGMA data_version');
  return {
    read: () => {
      try {
        return version() as number;
      } catch (cause) {
        throw new StoreUnavailableError('control database: its version cannot be read', { cause });
      }
    },
    close: () => file.close(),
  };
}
