/** Finds the rows of a batch that the engine does not have, whatever the outcome of earlier tries. */

import { leadingStrings } from '../tables/rowDecoder.ts';
import { DATABASE, TABLES, type TableName } from '../tables/schema.ts';
import type { RowBuffer } from './rowBuffer.ts';

interface RowReader {
  rows<T>(query: string, params?: Record<string, unknown>): Promise<T[]>;
}

/**
 * Rows of a batch that the engine does not have. For a replacing table: the newest row of each key, where the engine
 * has none as new.
 */
export function missingRows(reader: RowReader, table: TableName, rows: RowBuffer): Promise<RowBuffer> {
  return TABLES[table].replacingBy === null
    ? missingBySeq(reader, table, rows)
    : missingByKey(reader, table, rows);
}

async function missingBySeq(reader: RowReader, table: TableName, rows: RowBuffer): Promise<RowBuffer> {
  const { seqMin, seqMax } = seqBounds(rows);
  // Compares the seqs, not only their bounds: another writer may use the same range.
  const found = await reader.rows<{ seq: number }>(
    `SELECT seq FROM ${DATABASE}.${table}
     WHERE ts BETWEEN fromUnixTimestamp64Milli({from:Int64}) AND fromUnixTimestamp64Milli({to:Int64})
       AND seq BETWEEN {seqMin:UInt64} AND {seqMax:UInt64}`,
    { from: rows.timeMsMin, to: rows.timeMsMax, seqMin, seqMax },
  );
  const present = new Set(found.map(({ seq }) => seq));
  return rows.filter((row) => !present.has(rows.seqs[row] as number));
}

async function missingByKey(reader: RowReader, table: TableName, rows: RowBuffer): Promise<RowBuffer> {
  const key = TABLES[table].orderBy;
  const found = await reader.rows<Record<string, string> & { newest: number }>(
    `SELECT ${key.join(', ')}, max(seq) AS newest FROM ${DATABASE}.${table}
     WHERE seq >= {seqMin:UInt64} GROUP BY ${key.join(', ')}`,
    { seqMin: seqBounds(rows).seqMin },
  );
  const newest = new Map(found.map((row) => [JSON.stringify(key.map((name) => row[name])), row.newest]));
  const rowOfKey = new Map<string, number>();
  for (let row = 0; row < rows.rows; row++) {
    const start = row === 0 ? 0 : (rows.ends[row - 1] as number);
    const text = JSON.stringify(leadingStrings(rows.bytes, start, key.length));
    const known = rowOfKey.get(text);
    if (known === undefined || (rows.seqs[known] as number) <= (rows.seqs[row] as number))
      rowOfKey.set(text, row);
  }
  const missing = new Set<number>();
  for (const [text, row] of rowOfKey) {
    if ((newest.get(text) ?? Number.NEGATIVE_INFINITY) < (rows.seqs[row] as number)) missing.add(row);
  }
  return rows.filter((row) => missing.has(row));
}

function seqBounds({ seqs, rows }: RowBuffer): { seqMin: number; seqMax: number } {
  let [seqMin, seqMax] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let row = 0; row < rows; row++) {
    seqMin = Math.min(seqMin, seqs[row] as number);
    seqMax = Math.max(seqMax, seqs[row] as number);
  }
  return { seqMin, seqMax };
}
