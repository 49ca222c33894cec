import { StoreUnavailableError } from '../errors.ts';

/** SQLite's codes that say "not now" and nothing about the statement: no space, a failing disk, another's lock. */
const UNAVAILABLE = /^SQLITE_(?:FULL|IOERR|CANTOPEN|BUSY)/;

export function isUnavailable(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && UNAVAILABLE.test(code);
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
