/** Reads the engine's output for `plainRows`: the rows of a page, each with its key, and one row beyond the page. */

import { StoreUnavailableError } from '../runtime/errors.ts';
import { type Page, type PageRequest, type Position, pageOf, revisionOf } from '../store/queries/keyset.ts';
import type { Source } from '../store/queries/sql.ts';
import { borrowBookRowReader, returnBookRowReader } from '../store/tables/bookRowReader.ts';
import { isStreamed } from './streamedAnswers.ts';

const CUT = 'the engine ended its answer early';

/** The request of a page that `plainRows` can read. */
export type ShortRequest = PageRequest & { readonly intervalMs: null };

/** Whether a plain statement reads few rows. With a large offset it would read the columns of every skipped row. */
export function isShort(request: PageRequest): request is ShortRequest {
  const { limit, offset, after, intervalMs } = request;
  return limit > 0 && intervalMs === null && !isStreamed(limit + (after === null ? offset : 0));
}

type PageOrder = Pick<PageRequest, 'limit' | 'descending'>;

/** Collects the keys of rows in reading order. */
class PageKeys {
  readonly #request: PageOrder;
  #found = 0;
  #first: Position | null = null;
  #last: Position | null = null;
  #revision = '0';

  constructor(request: PageOrder) {
    this.#request = request;
  }

  add(key: Position, revision: string): void {
    this.#found++;
    this.#first ??= key;
    this.#revision = revision;
    if (this.#found <= this.#request.limit) this.#last = key;
  }

  /** Null if no row was added. */
  page(): Page | null {
    if (this.#first === null || this.#last === null) return null;
    return pageOf(this.#request, {
      found: this.#found,
      first: this.#first,
      last: this.#last,
      revision: this.#revision,
    });
  }
}

/** The column after those of a book, which `pageOfBooks` reads. */
export function bookKeyColumn(source: Source): string {
  return `[t.seq, ${revisionOf(source)}]`;
}

/**
 * The page of books in `BOOK_FORMAT`, with `bookKeyColumn`.
 * @returns Null if there is no row.
 * @throws {StoreUnavailableError} If the output is truncated.
 */
export function pageOfBooks(given: Buffer, request: PageOrder): Page | null {
  const keys = new PageKeys(request);
  const rows = borrowBookRowReader();
  try {
    rows.add(given);
    while (rows.hasNext()) {
      const [seq, revision] = rows.extra();
      const row = rows.next();
      if (row) keys.add({ timeMs: row.timeMs, seq: String(seq) }, String(revision));
    }
    if (!rows.isWhole) throw new StoreUnavailableError(CUT);
  } finally {
    returnBookRowReader(rows);
  }
  return keys.page();
}

const KEY_FIELDS = ',"page_key":';

/** The columns after those of a row, which `pageOfLines` reads. */
export function lineKeyColumns(source: Source): string {
  return keyColumns({ timeMs: 'toUnixTimestamp64Milli(t.ts)', seq: 't.seq', revision: revisionOf(source) });
}

/** Builds the key column from three SQL expressions of whole numbers. */
export function keyColumns({ timeMs, seq, revision }: Record<'timeMs' | 'seq' | 'revision', string>): string {
  return `[toString(${timeMs}), toString(${seq}), toString(${revision})] AS page_key`;
}

/** A page, and its rows in the form of the engine's JSON array. */
export interface PrintedPage {
  readonly page: Page | null;
  readonly rows: string;
}

/**
 * The page of rows in the format `OBJECT_LINES`, with `lineKeyColumns`.
 * @throws {StoreUnavailableError} If the output is truncated.
 */
export function pageOfLines(given: string, request: PageOrder): PrintedPage {
  const lines = given.split('\n');
  if (lines.pop() !== '') throw new StoreUnavailableError(CUT);
  const keys = new PageKeys(request);
  const rows: string[] = [];
  for (const line of lines) {
    const end = line.lastIndexOf(KEY_FIELDS);
    const key: [string, string, string] = JSON.parse(line.slice(end + KEY_FIELDS.length, -1));
    keys.add({ timeMs: Number(key[0]), seq: key[1] }, key[2]);
    if (rows.length < request.limit) rows.push(`${line.slice(0, end)}}`);
  }
  return { page: keys.page(), rows: `[\n${rows.join(',\n')}\n]\n` };
}
