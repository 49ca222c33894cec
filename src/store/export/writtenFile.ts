/** An exported file with its manifest beside it. The manifest is written last: a file without one is not finished. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Clock, sleep } from '../../runtime/clock.ts';
import { nameFullDisk } from '../../runtime/diskFull.ts';
import { InvalidInputError, StoreUnavailableError } from '../../runtime/errors.ts';
import { type ExportManifest, exportManifestShape } from '../../schema/api/exportManifest.ts';
import {
  EXPORT_COLUMNS,
  type ExportFormat,
  type ExportRange,
  type ExportSubject,
} from '../../schema/export.ts';
import { revisionOf } from '../queries/exports.ts';
import type { StoreReader } from '../reader.ts';
import { type ExportReader, type ExportSource, openSources } from './controlRows.ts';
import { rowsOfFile } from './fileRows.ts';
import { buildManifest, type HashedRows, hashRows, recordedPart } from './manifest.ts';
import { openExport } from './openExport.ts';
import { RowHasher } from './rowHash.ts';

const MANIFEST_SUFFIX = '.manifest.json';
/** Rows that are removed, or arrive late, while a file is written change it; then it is written again. */
const TRIES_MAX = 5;
const RETRY_MS = 1_000;

interface FileToWrite {
  readonly subject: ExportSubject;
  readonly range: ExportRange;
  readonly format: ExportFormat;
  readonly path: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export const manifestPath = (path: string) => `${path}${MANIFEST_SUFFIX}`;
export const isManifest = (path: string) => path.endsWith(MANIFEST_SUFFIX);
export const describedFile = (manifest: string) => manifest.slice(0, -MANIFEST_SUFFIX.length);

/**
 * Writes a file and its manifest. A failure leaves neither.
 * @throws {StoreUnavailableError} If the recorded rows changed during each of several tries.
 */
export async function writeExport(reader: ExportReader, file: FileToWrite): Promise<ExportManifest> {
  const { path } = file;
  await rm(manifestPath(path), { force: true });
  for (let tries = 1; ; tries++) {
    const manifest = await writeOnce(reader, file);
    if (manifest !== null) return manifest;
    if (tries === TRIES_MAX)
      throw new StoreUnavailableError(
        `${path}: its rows changed while they were written, ${TRIES_MAX} times`,
      );
    await sleep(file.clock, RETRY_MS, file.signal);
    file.signal.throwIfAborted();
  }
}

/** Null where the rows changed meanwhile. */
async function writeOnce(reader: ExportReader, file: FileToWrite): Promise<ExportManifest | null> {
  const { subject, range, format, path, signal } = file;
  const { store } = reader;
  const [part, manifestPart] = [`${path}.part`, `${manifestPath(path)}.part`];
  try {
    const sources = await openSources(reader, subject, { range, signal });
    const before = await revision(store, sources, signal);
    const sum = new HashedBytes();
    const rows = openExport(store, sources, { dataset: subject.dataset, format, signal });
    await pipeline(rows, sum, createWriteStream(part, { flush: true }), { signal });
    const name = basename(path);
    const written = { name, bytes: sum.bytes, sha256: sum.digest() };
    const hashed = before === null ? await hashWritten(part, file) : await hashRows(store, sources, signal);
    const manifest = await buildManifest(store, sources, { ...file, file: written, hashed });
    if ((await revision(store, sources, signal)) !== before) return null;
    await writeFile(manifestPart, `${JSON.stringify(manifest, null, 2)}\n`, { flush: true });
    await rename(part, path);
    // A file without its manifest is not finished, but it would use space.
    await rename(manifestPart, manifestPath(path)).catch(async (error: unknown) => {
      await rm(path, { force: true });
      throw error;
    });
    return manifest;
  } catch (error) {
    throw nameFullDisk(error, dirname(path));
  } finally {
    for (const name of [part, manifestPart]) await rm(name, { force: true });
  }
}

/**
 * Differs between two times where the rows changed in between. Null for rows that a service replaces all the time, like
 * markets and signals: no later statement may find those of the file, so the file alone is hashed.
 */
async function revision(
  store: StoreReader,
  sources: readonly ExportSource[],
  signal: AbortSignal,
): Promise<string | null> {
  const found: string[] = [];
  for (const source of sources) {
    if ('read' in source || source.dataset === 'markets' || source.dataset === 'gaps') return null;
    const { query, params } = revisionOf(source);
    const [row] = await store.rows<{ revision: string }>(query, { ...params }, { signal });
    found.push(row?.revision ?? '');
  }
  return found.join(', ');
}

/** The number of rows of a file, and their hash. */
async function hashWritten(part: string, { subject, format, signal }: FileToWrite): Promise<HashedRows> {
  const columns = EXPORT_COLUMNS[subject.dataset];
  const hasher = new RowHasher(columns);
  for await (const row of rowsOfFile(part, { format, columns })) {
    signal.throwIfAborted();
    hasher.add(row);
  }
  return { rows: hasher.rows, sha256: hasher.digest() };
}

/** Whether a file is finished, its bytes are those that were written, and the rows and gaps are still the same. */
export async function isUpToDate(reader: ExportReader, file: FileToWrite): Promise<boolean> {
  const { path, subject, range, format, signal } = file;
  const manifest = await readManifest(path).catch(() => null);
  if (manifest === null || manifest.file.format !== format) return false;
  const found = await hashFile(path).catch(() => null);
  if (found === null || found.sha256 !== manifest.file.sha256) return false;
  const sources = await openSources(reader, subject, { range, signal });
  const now = await buildManifest(reader.store, sources, {
    ...{ subject, range, format, signal },
    file: manifest.file,
    hashed: await hashRows(reader.store, sources, signal),
  });
  return JSON.stringify(recordedPart(now)) === JSON.stringify(recordedPart(manifest));
}

/** @throws {InvalidInputError} If there is no manifest beside the file, or it is not one. */
export async function readManifest(path: string): Promise<ExportManifest> {
  const text = await readFile(manifestPath(path), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new InvalidInputError(`${path}: there is no ${basename(manifestPath(path))} beside it`);
  });
  const parsed = exportManifestShape.safeParse(jsonOrNull(text));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const place = issue?.path.join('.') ?? '';
  throw new InvalidInputError(
    `${manifestPath(path)} is no manifest of this release: ${place === '' ? '' : `${place}: `}${issue?.message}`,
  );
}

function jsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The bytes of a file and their hash. */
export async function hashFile(path: string): Promise<{ bytes: number; sha256: string }> {
  const { size } = await stat(path);
  const sum = createHash('sha256');
  for await (const chunk of createReadStream(path)) sum.update(chunk as Buffer);
  return { bytes: size, sha256: sum.digest('hex') };
}

class HashedBytes extends Transform {
  readonly #sum = createHash('sha256');
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  digest(): string {
    return this.#sum.digest('hex');
  }

  override _transform(
    chunk: Buffer,
    _encoding: BufferEncoding,
    done: (error: null, chunk: Buffer) => void,
  ): void {
    this.#sum.update(chunk);
    this.#bytes += chunk.length;
    done(null, chunk);
  }
}
