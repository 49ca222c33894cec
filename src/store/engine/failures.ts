import { ClickHouseError } from '@clickhouse/client';
import { StoreRefusedError, StoreUnavailableError } from '../../runtime/errors.ts';

/** Engine errors that are worth a retry: too many queries, network, memory, disk, cancelled. */
const TRANSIENT_CODES: ReadonlySet<string> = new Set([
  '159',
  '202',
  '209',
  '210',
  '241',
  '243',
  '252',
  '394',
]);

/** The operating system's text for a full disk: the engine has many codes for failures that a full disk causes. */
const NO_SPACE = /No space left on device|ENOSPC|NOT_ENOUGH_SPACE/;

/** Converts any thrown value to one of the two error classes that callers can act on. */
export function storeFailure(error: unknown): StoreRefusedError | StoreUnavailableError {
  if (error instanceof StoreRefusedError || error instanceof StoreUnavailableError) return error;
  if (error instanceof ClickHouseError && !TRANSIENT_CODES.has(error.code) && !NO_SPACE.test(error.message)) {
    const text = `the store refused: ${error.message} (code ${error.code})`;
    return new StoreRefusedError(text, { storeCode: error.code, cause: error });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new StoreUnavailableError(`the store did not answer: ${text}`, { cause: error });
}
