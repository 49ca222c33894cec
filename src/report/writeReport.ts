/** Writes a report into a directory: `report.json`, `report.html` and the tables as Parquet. */
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { RunResult } from '../core/run/result.ts';
import { InvalidInputError } from '../runtime/errors.ts';
import { makeDirectories } from '../runtime/makeDirectories.ts';
import { systemReason } from '../runtime/systemReason.ts';
import { withRoundedMoney } from '../schema/moneyJson.ts';
import type { Report } from '../schema/report.ts';
import { reportPage } from './html/page.ts';
import { parquetFiles, type ReportFile } from './tables.ts';

export const REPORT_JSON = 'report.json';
export const TRADES_PARQUET = 'trades.parquet';
const ALL_FILES = [
  REPORT_JSON,
  'report.html',
  TRADES_PARQUET,
  'orders.parquet',
  'fills.parquet',
  'equity.parquet',
];

/**
 * Creates the directory. Replaces the files of an earlier report in it, and removes those that this report does not
 * have; other files stay.
 * @param run Null: of a job of a JSON strategy.
 * @returns The names of the written files.
 * @throws {InvalidInputError} If the directory cannot be created or written.
 */
export function writeReport(directory: string, body: Report, run: RunResult | null = null): string[] {
  const report = withRoundedMoney(body);
  const encoder = new TextEncoder();
  const files: ReportFile[] = [
    { name: REPORT_JSON, bytes: encoder.encode(`${JSON.stringify(report, null, 1)}\n`) },
    { name: 'report.html', bytes: encoder.encode(reportPage(report)) },
    ...parquetFiles(report, run),
  ];
  try {
    makeDirectories(directory);
    for (const { name, bytes } of files) replaceFile(join(directory, name), bytes);
    const written = files.map(({ name }) => name);
    for (const name of ALL_FILES) if (!written.includes(name)) rmSync(join(directory, name), { force: true });
    return written;
  } catch (cause) {
    throw new InvalidInputError(`the report cannot be written to ${directory}: ${systemReason(cause)}`, {
      cause,
    });
  }
}

/** Writes one result as JSON; creates its directory. @throws {InvalidInputError} */
export function writeResult(path: string, result: unknown): void {
  try {
    makeDirectories(dirname(path));
    replaceFile(path, new TextEncoder().encode(`${JSON.stringify(withRoundedMoney(result), null, 1)}\n`));
  } catch (cause) {
    throw new InvalidInputError(`${path} cannot be written: ${systemReason(cause)}`, { cause });
  }
}

/** A reader sees the old file or the new one, never half of one. */
function replaceFile(path: string, bytes: Uint8Array): void {
  const part = `${path}.part`;
  try {
    writeFileSync(part, bytes);
    renameSync(part, path);
  } catch (error) {
    // On a full disk it would stay.
    rmSync(part, { force: true });
    throw error;
  }
}
