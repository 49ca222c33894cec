/** A stable name for what the caller can do about an error. */
export type ErrorCode =
  /** 400, 422: correct the request. */
  | 'invalid_request'
  /** 401: the key is missing, unknown or revoked. */
  | 'unauthorized'
  /** 403: the tier does not include this. */
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'too_large'
  /** 429: wait for `retryAfterMs`. */
  | 'rate_limited'
  /** 5xx: try again later. */
  | 'unavailable'
  /** Any other status: is this the address of an Underround service? */
  | 'unexpected'
  /** No answer, or one that ended early: the network, or a service that does not run. */
  | 'no_answer'
  /** A stream ended, or refused a command, and reconnecting cannot help. */
  | 'stream_ended'
  /** A webhook's body is not signed with this secret, or is too old. */
  | 'bad_signature'
  /** A change does not continue the book that it was applied to. */
  | 'book_gap';

/** Base of every error that the client raises on purpose. */
export abstract class UnderroundError extends Error {
  abstract readonly code: ErrorCode;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** One problem of a 422 answer. */
export interface FieldProblem {
  readonly type: string;
  readonly loc: readonly (string | number)[];
  readonly msg: string;
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  400: 'invalid_request',
  401: 'unauthorized',
  403: 'forbidden',
  404: 'not_found',
  409: 'conflict',
  413: 'too_large',
  422: 'invalid_request',
  429: 'rate_limited',
};

/** An answer other than a success. */
export class ApiError extends UnderroundError {
  readonly code: ErrorCode;
  readonly status: number;
  /** The service's explanation. */
  readonly detail: string;
  /** Each faulty field of the request; empty unless `status` is 422. */
  readonly problems: readonly FieldProblem[];
  /** Time of `Retry-After`; null without one. */
  readonly retryAfterMs: number | null;
  /** Names the request in the service's log. */
  readonly requestId: string | null;
  /** The answer's body: parsed if it is JSON, else its text. */
  readonly body: unknown;

  constructor(status: number, headers: Headers, body: unknown) {
    const problems = problemsIn(body);
    const detail = detailOf(status, body, problems);
    super(`${detail} (${status})`);
    this.code = CODES[status] ?? (status >= 500 ? 'unavailable' : 'unexpected');
    this.status = status;
    this.detail = detail;
    this.problems = problems;
    const seconds = Number(headers.get('retry-after') ?? Number.NaN);
    this.retryAfterMs = seconds >= 0 ? seconds * 1000 : null;
    this.requestId = headers.get('x-request-id');
    this.body = body;
  }
}

/** The service did not answer, or its answer ended early. */
export class NoAnswerError extends UnderroundError {
  readonly code = 'no_answer';
}

/** A stream that cannot continue. */
export class StreamError extends UnderroundError {
  readonly code = 'stream_ended';
  /** The close code of the WebSocket; null: the service refused a command. */
  readonly closeCode: number | null;

  constructor(message: string, closeCode: number | null) {
    super(message);
    this.closeCode = closeCode;
  }
}

/** A body that must not be trusted. */
export class SignatureError extends UnderroundError {
  readonly code = 'bad_signature';
}

/** A book that lacks a change. Start again from a snapshot. */
export class BookGapError extends UnderroundError {
  readonly code = 'book_gap';
}

/** Reads the error of an answer other than a success. */
export async function apiErrorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // Not an answer of the service: a proxy's page, for example.
  }
  return new ApiError(response.status, response.headers, body);
}

function problemsIn(body: unknown): readonly FieldProblem[] {
  const detail = (body as { detail?: unknown } | null)?.detail;
  return Array.isArray(detail) ? (detail as FieldProblem[]) : [];
}

function detailOf(status: number, body: unknown, problems: readonly FieldProblem[]): string {
  if (problems.length > 0)
    return problems.map(({ loc, msg }) => `${loc.slice(1).join('.') || loc.join('.')}: ${msg}`).join('; ');
  const detail = (body as { detail?: unknown } | null)?.detail;
  return typeof detail === 'string' ? detail : `the service answered ${status}`;
}
