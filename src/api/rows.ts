import { type Duplex, pipeline, Readable } from 'node:stream';
import { countRows, findPage, type Page, type PageRequest, pageRows } from '../store/queries/keyset.ts';
import { pagedRows } from '../store/queries/pagedRows.ts';
import type { QueryParams, Source } from '../store/queries/sql.ts';
import type { StoreReader } from '../store/reader.ts';
import { isSettled, validityOf } from './caching.ts';
import { type CursorScope, decodeCursor, encodeCursor, SEQ_TIE } from './cursor.ts';
import { type HistoryWindow, START_END } from './history.ts';
import { badRequest } from './refusal.ts';
import type { Answer, RawRequest } from './route.ts';
import { rowsBody } from './rowsBody.ts';
import { isStreamed } from './streamedAnswers.ts';

/** How the engine gives the rows. */
export interface RowFormat {
  readonly format: string;
  readonly settings: Readonly<Record<string, string | number>>;
}

/** As one JSON array. */
export const OBJECT_ARRAY: RowFormat = {
  format: 'JSONEachRow',
  settings: {
    output_format_json_array_of_rows: 1,
    output_format_json_quote_64bit_integers: 0,
    output_format_json_escape_forward_slashes: 0,
    query_plan_optimize_lazy_materialization: 0,
  },
};

/** The paging parameters of one list as a request gave them. */
export interface PagingParameters {
  readonly start: number | null;
  readonly end: number | null;
  readonly limit: number;
  readonly offset?: number;
  readonly order?: 'asc' | 'desc';
  readonly cursor: string | null;
  readonly interval_ms?: number | null;
}

/** What a list is: which rows, how each is printed, and what stands around them. */
export interface RowList {
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

/** A list the engine does not print itself. */
export interface PrintedList extends RowList {
  /** Makes the body of what the engine gives for a statement of `pagedRows`. */
  print(): PrintedBody;
}

/** A body that finds out its page before it begins. */
export interface PrintedBody extends Duplex {
  /** Null where no row is selected; then there is no body. Rejects with what the engine's answer failed with. */
  page(request: PageRequest): Promise<Page | null>;
  begin(page: Page, around: Around): void;
}

/** What a request asks for of a list. */
export interface AskedPage {
  readonly request: PageRequest;
  readonly scope: CursorScope;
  /** As of `isSettled`. */
  readonly settlesMs: number | null;
}

/**
 * Reads the paging parameters of a request, within the history its tier may read.
 * @throws {RequestRefusedError} 400 for a range that ends before it starts, and for a foreign or broken cursor; then 403
 *   for a range that begins or ends before the history window.
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
 * @param names The two parameters, as the client knows them.
 * @throws {RequestRefusedError} 400 for a range that ends before it starts.
 */
export function checkRange(start: number | null, end: number | null, names = START_END): void {
  if (start === null || end === null || start <= end) return;
  throw badRequest(`${names[0]} must not be after ${names[1]}`);
}

/** A page of a list, found first by its keys, so that its count and cursor are known before its rows stream. */
export interface FoundPage {
  readonly page: Page | null;
  readonly total: number;
}

export async function findRows(
  store: StoreReader,
  source: Source,
  request: PageRequest,
  { withTotal, signal }: { withTotal: boolean; signal: AbortSignal },
): Promise<FoundPage> {
  // A limit of 0 asks for the count alone.
  const [page, total] = await Promise.all([
    request.limit === 0 ? null : findPage(store, source, request, signal),
    withTotal || request.limit === 0 ? countRows(store, source, request, signal) : 0,
  ]);
  return { page, total };
}

/** What a list's answer is made with beside its rows. */
export interface AnswerTerms extends AskedPage {
  readonly raw: Pick<RawRequest, 'signal' | 'headOnly' | 'conditions'>;
}

/** Reads the source's revision only for answers that may be kept: it costs a millisecond. */
export function sourceOf(
  source: Source,
  { settlesMs }: Pick<AskedPage, 'settlesMs'>,
  conditions: RawRequest['conditions'],
): Source {
  if (isSettled(settlesMs, conditions)) return source;
  const { revision: _unread, ...rest } = source;
  return rest;
}

/** Streams the rows of a found page inside the list's object. */
export async function answerRows(
  store: StoreReader,
  list: RowList,
  { found, ...terms }: AnswerTerms & { found: FoundPage },
): Promise<Answer> {
  const { text, headers, notModified } = frameOf(list, found, terms);
  const { page } = found;
  if (notModified) return { status: 304, headers, body: '' };
  if (!page) return { headers, body: `${text.prefix}[]${text.suffix}` };
  // The head of a streamed answer carries no length, so nothing needs to be read for it.
  if (terms.raw.headOnly) return { headers, body: Readable.from([]) };
  const { query, params } = pageRows(list.source, terms.request, page, list.columns);
  const rows = await streamOf(store, list, { query, params, ...terms });
  return { headers, body: rowsBody(rows, text) };
}

/** The same of a list without a total that the API prints: its page is found by the statement that reads its rows. */
export async function answerPrinted(
  store: StoreReader,
  list: PrintedList,
  terms: AnswerTerms,
): Promise<Answer> {
  const { request, raw } = terms;
  const source = sourceOf(list.source, terms, raw.conditions);
  // No row may be needed.
  if (request.limit === 0 || raw.headOnly || raw.conditions.ifNoneMatch !== undefined) {
    const found = await findRows(store, source, request, { withTotal: false, signal: raw.signal });
    if (found.page === null || raw.headOnly || frameOf(list, found, terms).notModified) {
      return answerRows(store, list, { found, ...terms });
    }
  }
  const { query, params } = pagedRows(source, request, list.columns);
  const given = await streamOf(store, list, { query, params, ...terms });
  // Either end's failure, and a body nobody reads any more, destroys the other end.
  const body = pipeline(given, list.print(), () => {});
  const page = await body.page(request);
  const { text, headers } = frameOf(list, { page, total: 0 }, terms);
  if (!page) return { headers, body: `${text.prefix}[]${text.suffix}` };
  body.begin(page, text);
  return { headers, body };
}

function streamOf(
  store: StoreReader,
  { columnParams, format }: RowList,
  {
    query,
    params,
    request: { limit },
    raw: { signal },
  }: { query: string; params: QueryParams; request: Pick<PageRequest, 'limit'>; raw: AnswerTerms['raw'] },
): Promise<Readable> {
  return store.stream(
    query,
    { ...params, ...columnParams },
    { format: format.format, settings: format.settings, short: !isStreamed(limit), signal },
  );
}

/** What stands around the rows, and whether the client has them already. */
function frameOf(
  list: RowList,
  { page, total }: FoundPage,
  { request, scope, settlesMs, raw }: AnswerTerms,
): { text: Around; headers: Answer['headers'] & object; notModified: boolean } {
  const counts = { count: request.limit === 0 ? total : (page?.count ?? 0), total };
  const next = page?.next ? encodeCursor(scope, { timeMs: page.next.timeMs, tie: page.next.seq }) : null;
  const text = around(list.key, list.head(counts), { ...list.tail?.(counts), next_cursor: next });
  const { conditions } = raw;
  const validity = validityOf([counts, page?.low, page?.high, page?.revision], { settlesMs, conditions });
  return { text, headers: validity?.headers ?? {}, notModified: validity?.notModified ?? false };
}

/** The text before and after the array of a list. */
export interface Around {
  readonly prefix: string;
  readonly suffix: string;
}

/** The text before and after the array `key` of an object. */
export function around(key: string, head: Record<string, unknown>, tail: Record<string, unknown>): Around {
  return {
    prefix: `${JSON.stringify(head).slice(0, -1)},${JSON.stringify(key)}:`,
    suffix: `,${JSON.stringify(tail).slice(1)}`,
  };
}
