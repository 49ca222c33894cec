/** Thins a day of books to the last state of each second, at once: a reader sees all rows of the day or the thinned ones. */
import type { StoreClient } from '../engine/client.ts';
import { DATABASE } from '../tables/schema.ts';

/** Rows are collected in a database of its own, which no backup and no export reads. */
const DRAFT = `${DATABASE}_thinning`;

/** @param day As `yyyy-mm-dd`. A call that was killed is repeated. */
export async function thinBooks(client: Pick<StoreClient, 'command'>, day: string): Promise<void> {
  const ofDay = `FROM ${DATABASE}.books WHERE toDate(ts) = toDate('${day}')`;
  const last = `SELECT market_id, argMax(seq, (ts, seq)) ${ofDay} GROUP BY market_id, toUnixTimestamp(ts)`;
  await client.command(`DROP DATABASE IF EXISTS ${DRAFT} SYNC`);
  await client.command(`CREATE DATABASE ${DRAFT}`);
  await client.command(`CREATE TABLE ${DRAFT}.books AS ${DATABASE}.books`);
  await client.command(`INSERT INTO ${DRAFT}.books SELECT * ${ofDay} AND (market_id, seq) IN (${last})`);
  await client.command(`ALTER TABLE ${DATABASE}.books REPLACE PARTITION '${day}' FROM ${DRAFT}.books`);
  await client.command(`DROP DATABASE ${DRAFT} SYNC`);
}
