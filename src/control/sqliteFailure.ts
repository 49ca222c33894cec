import { StoreUnavailableError } from '../runtime/errors.ts';

/**
 * SQLite's primary result codes that are worth a retry: another connection's lock (BUSY), a file system that became
 * read-only (READONLY), a failing disk (IOERR, CORRUPT, NOTADB: what it reads from one may look damaged), no space
 * (FULL), no file descriptor or directory (CANTOPEN).
 * @see https://www.sqlite.org/rescode.html
 */
const UNAVAILABLE: readonly number[] = [5, 8, 10, 11, 13, 14, 26];

/** Also true for the system's own error where SQLite's log is read directly: no descriptor is left, or the disk fails. */
export function isUnavailable(error: unknown): boolean {
  const { errcode, syscall } = error as { errcode?: unknown; syscall?: unknown };
  if (syscall !== undefined) return true;
  // The low byte of an extended code is the primary code.
  return typeof errcode === 'number' && UNAVAILABLE.includes(errcode & 0xff);
}

/** Runs a call of the driver. @throws {StoreUnavailableError} Where the database could not do it now. */
export function outward<T>(call: () => T): T {
  try {
    return call();
  } catch (cause) {
    if (!isUnavailable(cause)) throw cause;
    throw new StoreUnavailableError(`control database: ${(cause as Error).message}`, { cause });
  }
}
