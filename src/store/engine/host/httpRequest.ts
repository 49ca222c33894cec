/** Parses a request of ClickHouse's HTTP interface into parameters, settings, query and data. */
import type { IncomingMessage } from 'node:http';
import { STREAMED_ANSWER_HEADER } from '../access.ts';
import { HostError } from './hostError.ts';
import { isPlainName, type SessionState } from './sqlText.ts';

export interface EngineRequest {
  readonly query: string;
  /** Data of an insert; null when the body was the query itself. */
  readonly data: readonly Buffer[] | null;
  readonly state: SessionState;
  readonly queryId: string | null;
  readonly defaultFormat: string;
  /** Whether to answer in one piece, so that an error late in the query still has its own status. */
  readonly whole: boolean;
  /** Whether the answer is long: such requests leave the last sessions to short ones. */
  readonly streamed: boolean;
}

/** Largest accepted body: writers send 16 MiB, the rest is room for manual imports. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/** URL parameters of the interface that are not settings and have no meaning for an embedded engine. */
const IGNORED = new Set([
  'user',
  'password',
  'quota_key',
  'session_id',
  'session_timeout',
  'session_check',
  'role',
]);

/** @throws {HostError} On a name that cannot be a setting, an unknown setting, or a body beyond the limit. */
export async function readEngineRequest(
  request: IncomingMessage,
  knownSettings: ReadonlySet<string>,
): Promise<EngineRequest> {
  const url = new URL(request.url ?? '/', 'http://engine');
  const settings = new Map<string, string>();
  const params = new Map<string, string>();
  const known = { query: '', database: 'default', query_id: '', default_format: '', wait_end_of_query: '' };
  for (const [name, value] of url.searchParams) {
    if (name in known) known[name as keyof typeof known] = value;
    else if (name.startsWith('param_')) params.set(plain(name.slice('param_'.length)), value);
    else if (!IGNORED.has(name)) settings.set(plainSetting(name, knownSettings), value);
  }
  // A running query is found and cancelled by this id.
  if (known.query_id !== '') settings.set('log_comment', known.query_id);
  const body = await readBody(request);
  return {
    query: known.query === '' ? Buffer.concat(body).toString('utf8') : known.query,
    data: known.query === '' ? null : body,
    state: { database: known.database, settings, params },
    queryId: known.query_id === '' ? null : known.query_id,
    defaultFormat: known.default_format === '' ? 'TabSeparated' : known.default_format,
    whole: known.wait_end_of_query === '1',
    streamed: request.headers[STREAMED_ANSWER_HEADER] !== undefined,
  };
}

function plain(name: string): string {
  if (isPlainName(name)) return name;
  throw new HostError(36, 'BAD_ARGUMENTS', `Name ${JSON.stringify(name)} cannot be a parameter`);
}

function plainSetting(name: string, known: ReadonlySet<string>): string {
  if (known.has(name)) return name;
  throw new HostError(115, 'UNKNOWN_SETTING', `Unknown setting ${JSON.stringify(name)}`);
}

/** @throws {HostError} On a body beyond the limit. */
export async function readBody(request: IncomingMessage): Promise<Buffer[]> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) {
      throw new HostError(307, 'TOO_MANY_BYTES', `Body is larger than ${MAX_BODY_BYTES} bytes`);
    }
    chunks.push(chunk);
  }
  return chunks;
}
