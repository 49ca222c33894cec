/** Files of rows that the store cannot hold: `journal/rejected`. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory, syncFile } from '../../runtime/durableFile.ts';
import type { Logger } from '../../runtime/log.ts';
import { makeDurableDirectories } from '../../runtime/makeDirectories.ts';
import type { Metrics } from '../../runtime/metrics.ts';
import type { KindedRecord } from '../../schema/records.ts';
import type { TableName } from '../tables/schema.ts';
import { encodeSegmentHead, encodeWrite } from './journalFormat.ts';
import type { RowBuffer } from './rowBuffer.ts';
import { TARGETS } from './segment.ts';

/** The directory of rows that were set aside. */
export function rejectedDirectory(dataDir: string): string {
  return join(dataDir, 'journal', 'rejected');
}

/** The counter of all rows that were set aside. */
export function rejectedRowCounter(metrics: Metrics) {
  return metrics.counter(
    'underround_store_rejected_rows_total',
    'Rows the engine refused; they lie in journal/rejected',
  );
}

/** Sets rows aside so that they are neither lost nor in the way of others. A file is replaced by the same rows. */
export class RejectedRowFiles {
  readonly #directory: string;
  readonly #log: Logger;
  readonly #count;

  private constructor(directory: string, { log, metrics }: { log: Logger; metrics: Metrics }) {
    this.#directory = directory;
    this.#log = log;
    this.#count = rejectedRowCounter(metrics);
  }

  static async open(dataDir: string, runtime: { log: Logger; metrics: Metrics }): Promise<RejectedRowFiles> {
    const directory = rejectedDirectory(dataDir);
    makeDurableDirectories(directory);
    return new RejectedRowFiles(directory, runtime);
  }

  /** Encoded rows that the engine refused, as a journal segment. */
  async addRows(table: TableName, rows: RowBuffer, why: { error: unknown; timeMs: number }): Promise<void> {
    const write = encodeWrite([{ table, rows, fromRow: 0 }], why.timeMs);
    const bytes = Buffer.concat([encodeSegmentHead(TARGETS), ...write]);
    await this.#save(`${table}-${rows.seqs[0]}.seg`, bytes, { err: why.error, table, rows: rows.rows });
    this.#count.inc(rows.rows);
  }

  /** A record that cannot be encoded, as JSON. */
  async addRecord({ kind, record }: KindedRecord, error: unknown): Promise<void> {
    const text = JSON.stringify({ kind, record, reason: String(error) });
    await this.#save(`${kind}-${record.seq}.json`, Buffer.from(text), { err: error, kind, rows: 1 });
    this.#count.inc();
  }

  async #save(name: string, bytes: Buffer, line: object): Promise<void> {
    const path = join(this.#directory, name);
    await writeFile(path, bytes, { mode: 0o600 });
    await syncFile(path);
    await syncDirectory(this.#directory);
    this.#log.error({ ...line, path }, 'store.rows.set_aside');
  }
}
