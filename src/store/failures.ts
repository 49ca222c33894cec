import { ClickHouseError } from '@clickhouse/client';
import { StoreRefusedError, StoreUnavailableError } from '../errors.ts';

/** Engine errors that say "not now" rather than "not this": too many queries, network, memory, disk, cancelled. */
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

/** Sorts what a call threw into the two classes callers can act on. */
export function storeFailure(error: unknown): StoreRefusedError | StoreUnavailableError {
  if (error instanceof StoreRefusedError || error instanceof StoreUnavailableError) return error;
  if (error instanceof ClickHouseError && !TRANSIENT_CODES.has(error.code)) {
    const text = `the store refused: ${error.message} (code ${error.code})`;
    return new StoreRefusedError(text, { storeCode: error.code, cause: error });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new StoreUnavailableError(`the store did not answer: ${text}`, { cause: error });
}
