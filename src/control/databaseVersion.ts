import { StoreUnavailableError } from '../runtime/errors.ts';
import { SqliteFile } from './sqliteFile.ts';

/** Tells commits to a SQLite file apart. */
export interface DatabaseVersion {
  /**
   * Differs from before whenever any connection of any process committed meanwhile; about 3 microseconds.
   * @throws {StoreUnavailableError} When the file cannot be read.
   */
  read(): number;
  close(): void;
}

/**
 * SQLite numbers only what *other* connections commit, so this one writes nothing: it then sees the commits of this
 * process as well.
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
