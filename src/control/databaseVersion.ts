import { SqliteFile } from './sqliteFile.ts';

/** Detects commits to a SQLite file. */
interface DatabaseVersion {
  /**
   * Returns another number whenever any connection of any process has committed since the last call; takes about 3
   * microseconds.
   * @throws The driver's own error, when the file cannot be read.
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
  return { read: () => version() as number, close: () => file.close() };
}
