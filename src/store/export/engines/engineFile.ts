/** Files for other backtest engines: written whole, and listed in one file so that a later run continues. */
import { createWriteStream } from 'node:fs';
import { appendFile, mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { pipeline } from 'node:stream/promises';
import { nameFullDisk } from '../../../runtime/diskFull.ts';
import type { TokenName } from '../../queries/engineEvents.ts';
import type { StoreReader } from '../../reader.ts';
import { hashFile } from '../writtenFile.ts';

/** Beside the files, one line of JSON for each of them; the last line of a path counts. */
export const FILE_LIST = 'underround-files.jsonl';

/** A market as the engines need it. */
export interface EngineMarket {
  readonly market_id: string;
  readonly slug: string;
  readonly question: string;
  readonly ticker: string;
  readonly event_type: string;
  readonly yes_token_id: string;
  readonly no_token_id: string;
  readonly start_ms: number;
  readonly end_ms: number;
  readonly tick_size: number;
  readonly taker_fee_rate: number | null;
  readonly taker_fee_exponent: number | null;
  readonly outcome: string | null;
  readonly payout_yes: number | null;
  readonly seq: number;
}

/** The events of one token of a market that a writer writes. */
export interface AskedEvents {
  readonly market: EngineMarket;
  readonly token: TokenName;
  /** Rows up to this arrival number. */
  readonly upToSeq: number;
  readonly signal: AbortSignal;
  readonly pathOf: (path: string) => string;
}

export interface EngineFile {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** Of the recorded rows. */
  readonly revision: string;
  readonly market_id: string;
  readonly token: TokenName;
  readonly token_id: string;
  readonly [name: string]: unknown;
}

/** One written file. */
export type WrittenPart = Pick<EngineFile, 'path' | 'rows' | 'bytes' | 'sha256'>;

/** The listed files by their paths. */
export async function listedFiles(folder: string): Promise<Map<string, EngineFile>> {
  const text = await readFile(join(folder, FILE_LIST), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const files = new Map<string, EngineFile>();
  for (const line of text.split('\n')) {
    // A stopped run may have left a part of a line; its file is written again.
    const file = parsedOrNull(line);
    if (file !== null) files.set(file.path, file);
  }
  return files;
}

function parsedOrNull(line: string): EngineFile | null {
  try {
    return line === '' ? null : (JSON.parse(line) as EngineFile);
  } catch {
    return null;
  }
}

/** Appends a line. It starts with a newline, because a kill may have left the last line incomplete. */
export async function listFile(folder: string, file: EngineFile): Promise<void> {
  await appendFile(join(folder, FILE_LIST), `\n${JSON.stringify(file)}\n`);
}

/** Whether the file has the listed bytes. */
export async function hasListedBytes(folder: string, file: EngineFile): Promise<boolean> {
  const path = join(folder, file.path);
  const { size } = await stat(path).catch(() => ({ size: -1 }));
  return size === file.bytes && (await hashFile(path)).sha256 === file.sha256;
}

/** Writes a file as a whole or not at all. @param finish Called before it gets its name. */
export async function writeWhole(
  path: string,
  chunks: AsyncIterable<Buffer>,
  { signal, finish = async () => {} }: { signal: AbortSignal; finish?: (part: string) => Promise<void> },
): Promise<{ bytes: number; sha256: string }> {
  const part = `${path}.part`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await pipeline(chunks, createWriteStream(part), { signal });
    await finish(part);
    const written = await hashFile(part);
    await rename(part, path);
    return written;
  } catch (error) {
    throw nameFullDisk(error, dirname(path));
  } finally {
    await rm(part, { force: true });
  }
}

/** The engine's rows as bytes. */
export async function* engineBytes(
  store: StoreReader,
  { query, params }: { query: string; params: Readonly<Record<string, string | number>> },
  { format, settings = {}, signal }: EngineFormat,
): AsyncGenerator<Buffer> {
  // Rows of a market are sorted by arrival: beyond this size on the disk.
  const sorted = { max_bytes_before_external_sort: 500_000_000, ...settings };
  yield* await store.stream(query, { ...params }, { format, settings: sorted, signal });
}

interface EngineFormat {
  readonly format: 'RowBinary' | 'Parquet';
  readonly settings?: Readonly<Record<string, string | number>>;
  readonly signal: AbortSignal;
}
