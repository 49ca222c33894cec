import { type Duplex, pipeline, Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';
import {
  countRows,
  findPage,
  type Page,
  type PageRequest,
  pageRows,
  plainRows,
  rangeRevision,
} from '../store/queries/keyset.ts';
import { pagedRows } from '../store/queries/pagedRows.ts';
import type { QueryParams, Source } from '../store/queries/sql.ts';
import type { StoreReader } from '../store/reader.ts';
import { isSettled, validityOf } from './caching.ts';
import { type CursorScope, decodeCursor, encodeCursor, SEQ_TIE } from './cursor.ts';
import { type HistoryWindow, START_END } from './history.ts';
import { badRequest } from './refusal.ts';
import { type Answer, type RawRequest, streamedHead } from './route.ts';
import { rowsBody } from './rowsBody.ts';
import {
  bookKeyColumn,
  isShort,
  lineKeyColumns,
  type PrintedPage,
  pageOfBooks,
  pageOfLines,
  type ShortRequest,
} from './shortPages.ts';
import { isStreamed } from './streamedAnswers.ts';

/** Output format of the engine. */
export interface RowFormat {
  readonly format: string;
  readonly settings: Readonly<Record<string, string | number>>;
}

/** One JSON array. */
export const OBJECT_ARRAY: RowFormat = {
  format: 'JSONEachRow',
  settings: {
    output_format_json_array_of_rows: 1,
    output_format_json_quote_64bit_integers: 0,
    output_format_json_escape_forward_slashes: 0,
    query_plan_optimize_lazy_materialization: 0,
  },
};

/** The same objects, one per line. */
export const OBJECT_LINES: RowFormat = {
  format: OBJECT_ARRAY.format,
  settings: { ...OBJECT_ARRAY.settings, output_format_json_array_of_rows: 0 },
};

/** The paging parameters of a list as the request gave them. */
interface PagingParameters {
  readonly start: number | null;
  readonly end: number | null;
  readonly limit: number;
  readonly offset?: number;
  readonly order?: 'asc' | 'desc';
  readonly cursor: string | null;
  readonly interval_ms?: number | null;
}

/** A list: its rows, how each row is printed, and the fields around them. */
interface RowList {
  readonly source: Source;
  readonly columns: string;
  readonly columnParams?: QueryParams;
  readonly format: RowFormat;
  /** Name of the array. */
  readonly key: string;
  /** Fields before and after the array, in order. */
  head(counts: { count: number; total: number }): Record<string, unknown>;
  tail?(counts: { count: number; total: number }): Record<string, unknown>;
}

/** A list of books, which the API prints instead of the engine. */
interface PrintedList extends RowList {
  /** Creates the body from the engine's output for a statement of `pagedRows`. */
  print(): PrintedBody;
}

/** A body that finds its page before it begins. */
export interface PrintedBody extends Duplex {
  /** Null if no row is selected; then there is no body. Rejects with the engine's error. */
  page(request: PageRequest): Promise<Page | null>;
  /** @param behind Rows after those of the page, which are not printed; default: none. */
  begin(page: Page, around: Around, behind?: number): void;
}

/** The page of a list that a request asks for. */
interface AskedPage {
  readonly request: PageRequest;
  readonly scope: CursorScope;
  /** As for `isSettled`. */
  readonly settlesMs: number | null;
}

/**
 * Reads the paging parameters of a request, within the history its tier may read.
 * @throws {RequestRefusedError} 400 for a range that ends before it starts, and for a foreign or broken cursor; then
 * 403 for a range that starts or ends before the history window.
 */
export function pageRequest(
  scope: CursorScope,
  parameters: PagingParameters,
  history: HistoryWindow,
): AskedPage {
  const { start, end, limit, offset = 0, order = 'asc', cursor, interval_ms: intervalMs = null } = parameters;
  checkRange(start, end);
  const bound: CursorScope = [...scope, start, end, order, intervalMs];
  const place = decodeCursor(bound, cursor, SEQ_TIE);
  const after = place && { timeMs: place.timeMs, seq: place.tie };
  const startMs = history.range({ startMs: start, endMs: end }, { resumed: after !== null });
  return {
    settlesMs: startMs === start ? end : null,
    request: {
      startMs,
      endMs: end,
      descending: order === 'desc',
      limit,
      offset,
      after,
      intervalMs,
    },
    scope: bound,
  };
}

/**
 * @param names The two parameters, as used in messages to the client.
 * @throws {RequestRefusedError} 400 for a range that ends before it starts.
 */
export function checkRange(start: number | null, end: number | null, names = START_END): void {
  if (start === null || end === null || start <= end) return;
  throw badRequest(`${names[0]} must not be after ${names[1]}`);
}

/** A page of a list, and the number of rows in its range; 0 if the response does not include it. */
interface FoundPage {
  readonly page: Page | null;
  readonly total: number;
}

/**
 * A larger offset is compared with the total before the page is looked for, because the keys of skipped rows are read.
 * Behind the last row this would cost more than the total.
 */
const OFFSET_UNCOMPARED_MAX = 1_000_000;

async function findRows(
  store: StoreReader,
  source: Source,
  { request, withTotal = false, raw: { signal } }: ListTerms,
): Promise<FoundPage> {
  const { limit, offset, after } = request;
  // A limit of 0 requests only the count.
  const find = () => (limit === 0 ? null : findPage(store, source, request, signal));
  const count = () => (withTotal || limit === 0 ? countRows(store, source, request, signal) : 0);
  if (withTotal && after === null && offset > OFFSET_UNCOMPARED_MAX) {
    const total = await count();
    return { page: offset < total ? await find() : null, total };
  }
  const [page, total] = await Promise.all([find(), count()]);
  return { page, total };
}

/** The request's side of a list response. */
interface AnswerTerms extends AskedPage {
  readonly raw: Pick<RawRequest, 'signal' | 'headOnly' | 'conditions'>;
}

interface ListTerms extends AnswerTerms {
  readonly withTotal?: boolean;
}

/**
 * Reads the source's revision only for cacheable responses, because it costs a millisecond. The keys of a page of
 * intervals do not show a row that an import added to one of them, so its revision covers all rows of the range.
 */
export function sourceOf(
  source: Source,
  { settlesMs, request }: Pick<AskedPage, 'settlesMs' | 'request'>,
  conditions: RawRequest['conditions'],
): Source {
  if (isSettled(settlesMs, conditions)) {
    return request.intervalMs === null ? source : { ...source, revision: rangeRevision(source, request) };
  }
  const { revision: _unread, ...rest } = source;
  return rest;
}

/** Responds with a page that the engine prints: at once if it is short, otherwise as a stream. */
export async function answerRows(store: StoreReader, list: RowList, terms: ListTerms): Promise<Answer> {
  const { request, withTotal, raw } = terms;
  if (!isShort(request)) {
    const source = sourceOf(list.source, terms, raw.conditions);
    return streamRows(store, list, { found: await findRows(store, source, terms), ...terms });
  }
  const [{ page, rows }, total] = await Promise.all([
    readLines(store, list, { ...terms, request }),
    withTotal ? countRows(store, list.source, request, raw.signal) : 0,
  ]);
  const frame = frameOf(list, { page, total }, terms);
  const { prefix, suffix } = frame.text;
  return (
    withoutRows(frame, page, raw) ?? { headers: frame.headers, body: wholeBody(`${prefix}${rows}${suffix}`) }
  );
}

async function readLines(
  store: StoreReader,
  { source, columns, columnParams }: RowList,
  terms: AnswerTerms & { request: ShortRequest },
): Promise<PrintedPage> {
  const { query, params } = plainRows(source, terms.request, `${columns}, ${lineKeyColumns(source)}`);
  const list = { format: OBJECT_LINES, ...(columnParams ? { columnParams } : {}) };
  return pageOfLines(await text(await streamOf(store, list, { query, params, ...terms })), terms.request);
}

/** Streams the rows of a page found by its keys, so that count and cursor are known before the rows. */
async function streamRows(
  store: StoreReader,
  list: RowList,
  { found, ...terms }: AnswerTerms & { found: FoundPage },
): Promise<Answer> {
  const frame = frameOf(list, found, terms);
  const { page } = found;
  const bare = withoutRows(frame, page, terms.raw);
  if (bare || !page) return bare as Answer;
  const { query, params } = pageRows(list.source, terms.request, page, list.columns);
  const rows = await streamOf(store, list, { query, params, ...terms });
  return { headers: frame.headers, body: rowsBody(rows, frame.text) };
}

/** Responds with a list without a total that the API prints: one statement finds the page and reads its rows. */
export async function answerPrinted(
  store: StoreReader,
  list: PrintedList,
  terms: AnswerTerms,
): Promise<Answer> {
  const { request, raw } = terms;
  const source = sourceOf(list.source, terms, raw.conditions);
  if (isShort(request)) return answerShortPrinted(store, { ...list, source }, { ...terms, request });
  // The response may need no rows.
  if (request.limit === 0 || raw.headOnly || raw.conditions.ifNoneMatch !== undefined) {
    const found = await findRows(store, source, terms);
    if (found.page === null || raw.headOnly || frameOf(list, found, terms).notModified) {
      return streamRows(store, list, { found, ...terms });
    }
  }
  const { query, params } = pagedRows(source, request, list.columns);
  const given = await streamOf(store, list, { query, params, ...terms });
  // A failure of either stream, or an abandoned body, destroys the other stream.
  const body = pipeline(given, list.print(), () => {});
  const page = await body.page(request);
  const { text: around, headers } = frameOf(list, { page, total: 0 }, terms);
  if (!page) return { headers, body: `${around.prefix}[]${around.suffix}` };
  body.begin(page, around);
  return { headers, body };
}

async function answerShortPrinted(
  store: StoreReader,
  list: PrintedList,
  terms: AnswerTerms & { request: ShortRequest },
): Promise<Answer> {
  const { request, raw } = terms;
  const { query, params } = plainRows(list.source, request, `${list.columns}, ${bookKeyColumn(list.source)}`);
  const given = await buffer(await streamOf(store, list, { query, params, ...terms }));
  const page = pageOfBooks(given, request);
  const frame = frameOf(list, { page, total: 0 }, terms);
  const bare = withoutRows(frame, page, raw);
  if (bare || !page) return bare as Answer;
  const body = pipeline(Readable.from([given]), list.print(), () => {});
  body.begin(page, frame.text, page.next === null ? 0 : 1);
  return { headers: frame.headers, body };
}

/** The response if it needs no rows, else null. Without a page there always is one. */
function withoutRows(
  { text: { prefix, suffix }, headers, notModified }: Frame,
  page: Page | null,
  { headOnly }: Pick<RawRequest, 'headOnly'>,
): Answer | null {
  if (notModified) return { status: 304, headers, body: '' };
  if (!page) return { headers, body: `${prefix}[]${suffix}` };
  return headOnly ? { headers, body: streamedHead() } : null;
}

function streamOf(
  store: StoreReader,
  { columnParams, format }: Pick<RowList, 'columnParams' | 'format'>,
  {
    query,
    params,
    request: { limit },
    raw: { signal },
  }: { query: string; params: QueryParams; request: Pick<PageRequest, 'limit'>; raw: AnswerTerms['raw'] },
): Promise<Readable> {
  const short = !isStreamed(limit);
  // The engine makes blocks faster on one thread than the API prints them; a second one would delay other requests.
  const settings = { ...format.settings, ...(short ? {} : { max_threads: 1 }) };
  return store.stream(
    query,
    { ...params, ...columnParams },
    { format: format.format, settings, short, signal },
  );
}

interface Frame {
  readonly text: Around;
  readonly headers: Answer['headers'] & object;
  readonly notModified: boolean;
}

/** The text around the rows, and whether the client has cached them. */
function frameOf(
  list: RowList,
  { page, total }: FoundPage,
  { request, scope, settlesMs, raw }: AnswerTerms,
): Frame {
  const counts = { count: request.limit === 0 ? total : (page?.count ?? 0), total };
  const next = page?.next ? encodeCursor(scope, { timeMs: page.next.timeMs, tie: page.next.seq }) : null;
  const { key, head, tail } = list;
  const frame = around(key, head(counts), { ...tail?.(counts), next_cursor: next });
  const { conditions } = raw;
  const found = [counts, page?.low, page?.high, page?.revision, next];
  const validity = validityOf(found, { settlesMs, conditions });
  return { text: frame, headers: validity?.headers ?? {}, notModified: validity?.notModified ?? false };
}

/** A complete body sent like a streamed one: compressed whatever its length, and without a length header. */
export function wholeBody(json: string): Readable {
  return Readable.from([Buffer.from(json)], { objectMode: false });
}

/** The text before and after the array of a list. */
export interface Around {
  readonly prefix: string;
  readonly suffix: string;
}

/** Builds the text before and after the array `key` of an object. */
export function around(key: string, head: Record<string, unknown>, tail: Record<string, unknown>): Around {
  return {
    prefix: `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(key)}:`,
    suffix: `,${JSON.stringify(tail).slice(1)}`,
  };
}
