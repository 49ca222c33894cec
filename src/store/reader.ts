import type { Readable } from 'node:stream';

/** Read access to the time-series store. Queries name tables of the database `underround` without its name. */
export interface StoreReader {
  /**
   * Returns a small result as parsed rows. `params` are bound server-side (`{name:Type}` in the query).
   * @throws {StoreUnavailableError} After bounded retries.
   * @throws {StoreRefusedError} When the engine refused the query.
   */
  rows<T>(query: string, params?: Record<string, unknown>, options?: { signal?: AbortSignal }): Promise<T[]>;
  /**
   * Streams the engine's own bytes in `format`. An answer that is not `short` leaves the engine's last sessions to
   * short ones; a short one is sent in one piece. Destroying the stream or aborting cancels the query. A stream that
   * the engine could not finish ends with an error, never as if complete. The query must not name a FORMAT.
   */
  stream(
    query: string,
    params: Record<string, unknown>,
    options: {
      format: string;
      settings?: Readonly<Record<string, string | number>>;
      short?: boolean;
      signal?: AbortSignal;
    },
  ): Promise<Readable>;
}
