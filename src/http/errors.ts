import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { BusyError, DiskScarceError, StoreUnavailableError } from '../runtime/errors.ts';
import type { Logger } from '../runtime/log.ts';
import type { Admission } from './admission.ts';
import { RequestRefusedError } from './refusal.ts';

/** A restarted engine answers within this time. A full disk takes longer, so clients retry several times. */
const STORE_RETRY_SECONDS = '5';
/** Errors that are 503, with the seconds after which a retry may succeed; an operator needs minutes to free space. */
const UNAVAILABLE = [
  [BusyError, '1', 'Too busy at this moment, retry'],
  [DiskScarceError, '300', "The service's disk is nearly full; retry when the operator has freed space"],
] as const;
/** Codes of a failed store: a full or failing disk, and an answer that the engine cut. A client that cut is handled before. */
const STORE_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'ECONNRESET']);
const INTERNAL = { status: 500, detail: 'Internal Server Error' };

/** Turns any error before the body into JSON with `detail`; internal texts go to the log only. */
export function handleErrors(app: FastifyInstance, parts: ErrorParts): void {
  app.setErrorHandler((error, request, reply) => answerError(error, { request, reply }, parts));
}

interface ErrorParts {
  readonly log: Logger;
  /** Counts 4xx responses to requests without a known user. */
  readonly admission: Pick<Admission, 'refused'>;
}

export function answerError(
  error: unknown,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { log, admission }: ErrorParts,
): FastifyReply {
  if (error instanceof RequestRefusedError) {
    const tooMany = admission.refused(request, reply, error.status);
    if (!(tooMany instanceof Promise)) return sendRefusal(reply, tooMany ?? error);
    void tooMany.then((late) => sendRefusal(reply, late ?? error));
    return reply;
  }
  for (const [kind, retryAfter, detail] of UNAVAILABLE)
    if (error instanceof kind) return sendDetail(reply.header('retry-after', retryAfter), 503, detail);
  // The client has disconnected and its query was cancelled. The access log has the request; nobody reads a response.
  if (reply.raw.destroyed) return reply;
  const { status, detail } = outwardForm(error, request);
  if (status < 500)
    return answerError(new RequestRefusedError(status, detail), { request, reply }, { log, admission });
  if (status === 502) reply.header('retry-after', STORE_RETRY_SECONDS);
  if (status >= 500) {
    log.error({ err: error, request_id: request.id, route: request.routeOptions.url }, 'http.request_failed');
  }
  return sendDetail(reply, status, detail);
}

function sendRefusal(reply: FastifyReply, { status, headers, detail }: RequestRefusedError): FastifyReply {
  return sendDetail(reply.headers(headers), status, detail);
}

function outwardForm(error: unknown, { routeOptions }: FastifyRequest): { status: number; detail: string } {
  if (error instanceof StoreUnavailableError || STORE_CODES.has((error as { code?: unknown }).code)) {
    return { status: 502, detail: 'The data store is temporarily unreachable, retry with back-off' };
  }
  switch ((error as { code?: unknown }).code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return {
        status: 413,
        detail: `Request body is larger than ${(routeOptions.bodyLimit ?? 0) / 1024} KiB`,
      };
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return { status: 404, detail: 'Not Found' };
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return { status: 400, detail: 'Content-Length does not match the body' };
    default:
      return INTERNAL;
  }
}

function sendDetail(reply: FastifyReply, status: number, detail: unknown): FastifyReply {
  // A stream that failed before its first byte may already have set its encoding and validator.
  reply.removeHeader('content-encoding').removeHeader('etag');
  if (reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  return reply.code(status).type('application/json').send(JSON.stringify({ detail }));
}
