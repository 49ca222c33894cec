/** Checks exported files against their manifests, without a store. */
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { InvalidInputError } from '../../runtime/errors.ts';
import type { ExportManifest } from '../../schema/api/exportManifest.ts';
import type { ExportColumn } from '../../schema/export.ts';
import { isGapOf } from '../../schema/gap.ts';
import { rowsOfFile } from './fileRows.ts';
import { RowHasher } from './rowHash.ts';
import type { RowValues } from './rowValues.ts';
import { describedFile, hashFile, isManifest, manifestPath, readManifest } from './writtenFile.ts';

interface VerifiedFile {
  readonly path: string;
  /** Null if it could not be read. */
  readonly manifest: ExportManifest | null;
  /** Sentences; empty if the file is as it was exported. */
  readonly problems: readonly string[];
}

/** The exported files below a directory, in the order of their paths, also those without a manifest. */
export async function exportedFilesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  return [...new Set(paths.map((path) => (isManifest(path) ? describedFile(path) : path)))].sort();
}

/** Checks one file: its bytes, its rows and their hash, and that no row inside a gap is trusted. */
export async function verifyFile(path: string): Promise<VerifiedFile> {
  let manifest: ExportManifest | null = null;
  try {
    manifest = await readManifest(path);
    return { path, manifest, problems: await problemsOf(path, manifest) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      const sentence = `${path}: the file of ${basename(manifestPath(path))} does not exist`;
      return { path, manifest, problems: [sentence] };
    }
    if (!(error instanceof InvalidInputError)) throw error;
    return { path, manifest, problems: [error.message] };
  }
}

async function problemsOf(path: string, manifest: ExportManifest): Promise<string[]> {
  const problems: string[] = [];
  const differs = (what: string, found: string | number, expected: string | number | null) => {
    if (expected !== null && found !== expected)
      problems.push(`${path}: ${what} ${found}; the manifest has ${expected}`);
  };
  const { bytes, sha256 } = await hashFile(path);
  differs('its bytes are', bytes, manifest.file.bytes);
  differs('its SHA-256 is', sha256, manifest.file.sha256);
  const columns = columnsOf(manifest);
  const rows = new RowHasher(columns);
  const gaps = new GapCheck(columns, manifest);
  try {
    for await (const row of rowsOfFile(path, { format: manifest.file.format, columns })) {
      rows.add(row);
      gaps.check(row);
    }
  } catch (error) {
    if (!(error instanceof InvalidInputError)) throw error;
    return [...problems, `${path}: ${error.message}`];
  }
  differs('its rows are', rows.rows, manifest.rows);
  differs('the SHA-256 of its rows is', rows.digest(), manifest.data_sha256);
  return [...problems, ...gaps.problems.map((problem) => `${path}: ${problem}`)];
}

/** The columns of the release that wrote the file. */
export function columnsOf(manifest: ExportManifest): ExportColumn[] {
  return manifest.columns.map(({ name, type, nullable, unit }) => ({ name, kind: type, nullable, unit }));
}

interface KnownGap {
  readonly id: string;
  readonly start: number;
  readonly end: number;
  readonly startReceived: number;
  readonly endReceived: number;
  /** Gaps of earlier releases. */
  readonly hasReceiveTimesOnly: boolean;
}

const timeOf = (text: string | null, otherwise: number) => (text === null ? otherwise : Date.parse(text));

/** Only the first trusted row of each gap is a problem of its own: the others have the same cause. */
class GapCheck {
  readonly problems: string[] = [];
  readonly #gaps = new Map<string, KnownGap[]>();
  readonly #at: Readonly<Record<'market_id' | 'ts' | 'received_at' | 'trusted', number>>;
  readonly #found = new Set<KnownGap>();
  #row = 0;

  constructor(columns: readonly ExportColumn[], { gaps, asked }: ExportManifest) {
    const at = (name: string) => columns.findIndex((column) => column.name === name);
    this.#at = {
      market_id: at('market_id'),
      ts: at('ts'),
      received_at: at('received_at'),
      trusted: at('trusted'),
    };
    if (this.#at.trusted < 0) return;
    const table = asked.dataset === 'quotes' ? 'quotes' : 'books';
    for (const gap of gaps.filter((one) => isGapOf(table, one))) {
      const start = Date.parse(gap.start);
      const end = timeOf(gap.end, Number.POSITIVE_INFINITY);
      const known = {
        ...{ id: gap.gap_id, start, end, startReceived: timeOf(gap.start_received, start) },
        endReceived: timeOf(gap.end_received, end),
        hasReceiveTimesOnly: gap.start_received === null,
      };
      this.#gaps.set(gap.market_id, [...(this.#gaps.get(gap.market_id) ?? []), known]);
    }
  }

  check(row: RowValues): void {
    this.#row++;
    const { market_id: marketId, ts, received_at: receivedAt, trusted } = this.#at;
    if (row[trusted] !== true) return;
    for (const gap of this.#gaps.get(row[marketId] as string) ?? []) {
      if (this.#found.has(gap) || !isInside(gap, row[ts] as number, row[receivedAt] as number)) continue;
      this.#found.add(gap);
      this.problems.push(`row ${this.#row} is trusted inside the gap ${gap.id}`);
    }
  }
}

/** The rule of `TRUSTED` in the store's queries: the rows at the two ends of a gap are good. */
function isInside(gap: KnownGap, tsMs: number, receivedMs: number): boolean {
  const isBetweenReceipts = receivedMs > gap.startReceived && receivedMs < gap.endReceived;
  if (gap.hasReceiveTimesOnly) return isBetweenReceipts;
  if (tsMs > gap.start && tsMs < gap.end) return true;
  return tsMs >= gap.start && tsMs <= gap.end && isBetweenReceipts;
}
