/** Thins a day of books to the last state of each second, at once: a reader sees all rows of the day or the thinned ones. */
import type { StoreClient } from '../engine/client.ts';
import { DATABASE, type TableName } from '../tables/schema.ts';

/** Rows are collected in a database of its own, which no backup and no export reads. */
const DRAFT = `${DATABASE}_thinning`;
const HOURS = Array.from({ length: 24 }, (_, hour) => hour);

/**
 * Replaces a day's books by the last of each market and second. Run it again if it failed or was killed.
 * @param day As `yyyy-mm-dd`.
 * @param options.rows How many rows the day had before. Rows stored since, for example by an import, are in no draft or in no gap.
 * @param options.signal Stops between two statements.
 * @returns False where the day has another number of rows by now: it is as it was.
 * @throws {StoreUnavailableError} If the engine died: the day is as it was, or thinned.
 */
export async function thinBooks(
  client: Pick<StoreClient, 'command' | 'commandOnce' | 'rows'>,
  day: string,
  { rows, signal }: { readonly rows: number; readonly signal?: AbortSignal },
): Promise<boolean> {
  await removeThinningDraft(client);
  await client.command(`CREATE DATABASE IF NOT EXISTS ${DRAFT}`);
  await client.command(`CREATE TABLE IF NOT EXISTS ${DRAFT}.books AS ${DATABASE}.books`);
  // Each once: a second run would add its rows to those of the first. An hour each: the engine is silent meanwhile.
  for (const hour of HOURS) {
    signal?.throwIfAborted();
    await client.commandOnce(insertStatement(day, hour));
  }
  const isUnchanged = (await countRows(client, 'books', day)) === rows;
  // Once: a second run would remove the rows that were stored since the first.
  if (isUnchanged)
    await client.commandOnce(`ALTER TABLE ${DATABASE}.books REPLACE PARTITION '${day}' FROM ${DRAFT}.books`);
  await removeThinningDraft(client);
  return isUnchanged;
}

/** Number of rows of a table on a UTC day, `yyyy-mm-dd`. */
export async function countRows(
  reader: Pick<StoreClient, 'rows'>,
  table: TableName,
  day: string,
): Promise<number> {
  const [found] = await reader.rows<{ count: number }>(
    `SELECT count() AS count FROM ${DATABASE}.${table} WHERE toDate(ts) = toDate({day:String})`,
    { day },
  );
  return Number(found?.count ?? 0);
}

function insertStatement(day: string, hour: number): string {
  const start = `toDateTime64('${day} ${String(hour).padStart(2, '0')}:00:00', 3, 'UTC')`;
  const ofHour = `FROM ${DATABASE}.books WHERE ts >= ${start} AND ts < ${start} + INTERVAL 1 HOUR`;
  const last = `SELECT market_id, argMax(seq, (ts, seq)) ${ofHour} GROUP BY market_id, toUnixTimestamp(ts)`;
  // An engine killed during a replacement may keep the old rows beside the new ones: a row can be there twice.
  const oneEach = 'LIMIT 1 BY market_id, toUnixTimestamp(ts)';
  return `INSERT INTO ${DRAFT}.books SELECT * ${ofHour} AND (market_id, seq) IN (${last}) ${oneEach}`;
}

/** Frees the space of a thinning that failed or was killed. None may be under way. */
export async function removeThinningDraft(client: Pick<StoreClient, 'command'>): Promise<void> {
  await client.command(`DROP DATABASE IF EXISTS ${DRAFT} SYNC`);
}
