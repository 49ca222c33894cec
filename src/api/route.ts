import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { Identity } from '../accounts/authenticate.ts';
import { type Fields, readFields, type Values } from '../schema/api/fields.ts';
import type { Conditions } from './caching.ts';
import type { QueryParameters } from './queryString.ts';
import { badRequest, invalid } from './refusal.ts';

/** What every handler gets, before its own parameters are read. */
export interface RawRequest {
  readonly query: QueryParameters;
  readonly path: Readonly<Record<string, string>>;
  /** Null on routes without a key. */
  readonly identity: Identity | null;
  /** HEAD: the head counts, no body is made. */
  readonly headOnly: boolean;
  /** Whether the client may keep the answer, or has kept it. */
  readonly conditions: Conditions;
  /** Aborts when the client goes away before the answer is whole. */
  readonly signal: AbortSignal;
}

export interface ApiRequest<Q extends Fields, P extends Fields> extends Omit<RawRequest, 'query' | 'path'> {
  readonly query: Values<Q>;
  readonly path: Values<P>;
}

/** A whole body as text, or one that streams. JSON unless `contentType` says otherwise. */
export interface Answer {
  readonly status?: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Readable;
}

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

interface Declaration<Q extends Fields, P extends Fields> {
  readonly method: Method;
  /** With `{name}` for path parameters, as the API description writes it. */
  readonly path: string;
  readonly auth: 'key' | 'none';
  readonly summary: string;
  readonly description?: string;
  readonly query?: Q;
  readonly pathFields?: P;
  /** Shape of a 200 answer; null where it is not JSON. It describes and tests, it never runs on a request. */
  readonly response: z.ZodType | null;
  /** Answers about a range that can change no more carry a validator and may be kept. */
  readonly cacheable?: boolean;
  /** Media type of an answer that is not JSON. */
  readonly produces?: string;
  handle(request: ApiRequest<Q, P>): Promise<Answer> | Answer;
}

/** One operation of the API: what is served, to whom, how it is described. */
export interface Route
  extends Pick<
    Declaration<Fields, Fields>,
    'method' | 'path' | 'auth' | 'summary' | 'description' | 'response' | 'cacheable' | 'produces'
  > {
  readonly queryFields: Fields;
  readonly pathFields: Fields;
  handle(request: RawRequest): Promise<Answer> | Answer;
}

/**
 * Declares a route. Its parameters are read and refused here, all failing ones in one answer, path before query:
 * 422 first, then 400 for what is malformed as a whole.
 */
export function route<Q extends Fields = Record<never, never>, P extends Fields = Record<never, never>>(
  declaration: Declaration<Q, P>,
): Route {
  const { query: queryFields = {} as Q, pathFields = {} as P, handle, ...rest } = declaration;
  return {
    ...rest,
    queryFields,
    pathFields,
    handle(request) {
      const path = readFields(pathFields, request.path, 'path');
      const query = readFields(queryFields, request.query, 'query');
      if (path.problems.length + query.problems.length > 0) {
        throw invalid([...path.problems, ...query.problems]);
      }
      const refusal = path.refusal ?? query.refusal;
      if (refusal !== null) throw badRequest(refusal);
      const { identity, headOnly, conditions } = request;
      return handle({
        identity,
        headOnly,
        conditions,
        path: path.values,
        query: query.values,
        // Handed on unread: reading it makes the signal, which most small answers never need.
        get signal() {
          return request.signal;
        },
      });
    },
  };
}
