import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Rows of the control database read and printed before other work may run: some milliseconds. */
export const ROWS_A_TURN = 500;

interface PagesWanted<R> {
  readonly limit: number;
  readonly rowsATurn?: number;
  /** Reads rows in the list's order. @param after The last row read before; null: from the beginning. */
  read(limit: number, after: R | null): Promise<readonly R[]>;
  /** A row as JSON. */
  print(row: R): string;
}

interface PrintedRows<R> {
  readonly pages: readonly Buffer[];
  readonly count: number;
  /** The last row if further ones follow it, else null. */
  readonly next: R | null;
}

/**
 * Reads and prints up to `limit` rows, page by page. The control database answers in the thread of all requests, so one
 * long page would delay the others.
 */
export async function printRows<R>(wanted: PagesWanted<R>): Promise<PrintedRows<R>> {
  const { limit, rowsATurn = ROWS_A_TURN } = wanted;
  const pages: Buffer[] = [];
  let [count, last]: [number, R | null] = [0, null];
  while (count < limit) {
    const most = Math.min(rowsATurn, limit - count);
    // One row more shows whether further ones follow.
    const rows = await wanted.read(most + 1, last);
    const page = rows.slice(0, most);
    pages.push(Buffer.from(page.map((row) => wanted.print(row)).join(',')));
    count += page.length;
    last = page.at(-1) ?? last;
    if (rows.length <= most) return { pages, count, next: null };
    await nextTurn();
  }
  return { pages, count, next: last };
}

/**
 * An object whose last but one part is an array of printed rows; a stream if it has several pages.
 * @param around The JSON objects whose members stand before and after the array.
 */
export function rowsObject(
  key: string,
  { pages }: Pick<PrintedRows<unknown>, 'pages'>,
  around: { head: string; tail: string },
): string | Readable {
  const prefix = `${around.head.slice(0, -1)},${JSON.stringify(key)}:[`;
  const suffix = around.tail === '{}' ? ']}' : `],${around.tail.slice(1)}`;
  if (pages.length <= 1) return `${prefix}${pages[0] ?? ''}${suffix}`;
  return Readable.from(parts(), { objectMode: false });

  function* parts() {
    for (const [at, page] of pages.entries()) {
      yield Buffer.from(at === 0 ? prefix : ',');
      yield page;
    }
    yield Buffer.from(suffix);
  }
}
