import { UnderroundError } from '../runtime/errors.ts';
import type { Problem } from '../schema/api/fields.ts';
import { boundedProblems, type ShownProblem } from '../schema/api/problems.ts';

/** A request that the API answers with an error. Only `detail` is sent to the client. */
export class RequestRefusedError extends UnderroundError {
  readonly code = 'request_refused';
  readonly status: number;
  readonly detail: string | readonly ShownProblem[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    detail: string | readonly ShownProblem[],
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(typeof detail === 'string' ? detail : 'validation failed');
    this.status = status;
    this.detail = detail;
    this.headers = headers;
  }
}

export const badRequest = (detail: string) => new RequestRefusedError(400, detail);
export const forbidden = (detail: string) => new RequestRefusedError(403, detail);
export const notFound = (detail: string) => new RequestRefusedError(404, detail);
export const invalid = (problems: readonly Problem[]) =>
  new RequestRefusedError(422, boundedProblems(problems));
export const unauthorized = (detail: string) =>
  new RequestRefusedError(401, detail, { 'www-authenticate': 'Bearer' });
export const methodNotAllowed = (allowed: readonly string[]) =>
  new RequestRefusedError(405, 'Method Not Allowed', { allow: allowed.join(', ') });
export const tooManyRequests = (detail: string, retryAfterSeconds: number) =>
  new RequestRefusedError(429, detail, { 'retry-after': String(retryAfterSeconds) });
/** The same for a reason that does not say what to wait for: clients that show only `detail` learn the time too. */
export const retryIn = (retryAfterSeconds: number, reason: string) =>
  tooManyRequests(`${reason}; retry in ${retryAfterSeconds} s`, retryAfterSeconds);
/** How many of something a refusal allows: `one connection`, `4 connections`. */
export const numbered = (count: number, one: string, several = `${one}s`) =>
  count === 1 ? `one ${one}` : `${count} ${several}`;
/** The header makes a page ask for the code; the text is for people. */
export const codeRequired = (detail: string) =>
  new RequestRefusedError(401, detail, { 'www-authenticate': 'Bearer', 'x-second-factor': 'required' });
export const misdirected = () =>
  new RequestRefusedError(
    421,
    'Unknown host name; the operator lists the names of this service in UNDERROUND_PUBLIC_HOST',
  );
export const conflict = (detail: string) => new RequestRefusedError(409, detail);
export const underMaintenance = (retryAfterSeconds: number, message: string | null = null) =>
  new RequestRefusedError(503, message ?? 'Under maintenance, retry later', {
    'retry-after': String(Math.max(1, Math.ceil(retryAfterSeconds))),
  });
