/** Reads one side of a comparison: a report's directory, its `report.json`, a job's result as JSON, or trades as Parquet. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { z } from 'zod';
import { InvalidInputError } from '../runtime/errors.ts';
import { type ComparedRun, comparedRun } from './comparedResult.ts';
import { RECEIPT_KEY } from './tables.ts';
import { REPORT_JSON, TRADES_PARQUET } from './writeReport.ts';

const time = z.union([z.string().transform(Date.parse), z.date().transform((date) => date.getTime())]);
const tradeShape = z.object({
  market_id: z.string(),
  decided_at: time,
  window_start: time.nullish(),
  net_pnl: z.number().nullable(),
});
const receiptShape = z.object({ data_hash: z.string(), code_version: z.string() });
const marketShape = z.object({ market_id: z.string(), start: time, skipped: z.string().nullable() });
const resultShape = z.object({
  name: z.string().optional(),
  receipt: receiptShape,
  trades: z.array(tradeShape),
  markets_skipped: z.array(z.object({ market_id: z.string() })),
  markets: z.array(marketShape).nullish(),
});

type Result = z.infer<typeof resultShape>;

/** @throws {InvalidInputError} If the path names none of these, or its content is not what it should be. */
export async function readRun(path: string): Promise<ComparedRun> {
  const file = fileOf(path);
  try {
    const result = file.endsWith('.parquet')
      ? await readParquet(file)
      : resultShape.parse(JSON.parse(readFileSync(file, 'utf8')));
    return comparedRun(result, basename(path));
  } catch (cause) {
    throw new InvalidInputError(`${file} is not a report: ${reasonOf(cause)}`, { cause });
  }
}

function fileOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new InvalidInputError(`${path} does not exist`);
  if (!found.isDirectory()) return path;
  const file = [REPORT_JSON, TRADES_PARQUET].map((name) => join(path, name)).find(existsSync);
  if (file === undefined)
    throw new InvalidInputError(`${path} has no ${REPORT_JSON} and no ${TRADES_PARQUET}`);
  return file;
}

async function readParquet(file: string): Promise<Result> {
  const bytes = readFileSync(file);
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const { key_value_metadata: pairs = [] } = parquetMetadata(buffer);
  const receipt = pairs.find(({ key }) => key === RECEIPT_KEY)?.value;
  if (receipt === undefined) throw new Error(`it has no metadata ${RECEIPT_KEY}`);
  const trades = z.array(tradeShape).parse(await parquetReadObjects({ file: buffer }));
  return { receipt: receiptShape.parse(JSON.parse(receipt)), trades, markets_skipped: [] };
}

function reasonOf(cause: unknown): string {
  if (cause instanceof z.ZodError) {
    const [issue] = cause.issues;
    return `${issue?.path.join('.') || 'the file'}: ${issue?.message}`;
  }
  return (cause as Error).message;
}
