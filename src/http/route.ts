import { type Duplex, Readable } from 'node:stream';
import type { WebSocket } from 'ws';
import type { z } from 'zod';
import type { SignedIn } from '../accounts/keys/accessControl.ts';
import type { Identity } from '../accounts/keys/authenticate.ts';
import type { Feature, TierLimits } from '../accounts/users/tiers.ts';
import { type Members, type MemberValues, readBody } from '../schema/api/body.ts';
import { type Fields, readFields, type Values } from '../schema/api/fields.ts';
import type { Conditions } from './caching.ts';
import type { HistoryWindow } from './history.ts';
import type { QueryParameters } from './queryString.ts';
import { badRequest, invalid } from './refusal.ts';
import type { CookieScope } from './sessionCookie.ts';
import { isStreamed } from './streamedAnswers.ts';

/** The request as every handler gets it, before its own parameters are parsed. */
export interface RawRequest {
  readonly query: QueryParameters;
  readonly path: Readonly<Record<string, string>>;
  /** Null on routes without a key or a session. */
  readonly identity: Identity | null;
  /** Null on routes without a session. */
  readonly session: SignedIn | null;
  /** The parsed body; undefined without one. */
  readonly body: unknown;
  readonly client: Client;
  /** Limits of the identity's tier. @throws {TypeError} On routes without a key, which is a defect of the program. */
  readonly limits: TierLimits;
  /** How far back the identity's tier may read. @throws {TypeError} Like `limits`. */
  readonly history: HistoryWindow;
  /** A HEAD request: only the head is sent, and no body is built. */
  readonly headOnly: boolean;
  /** Inputs that decide whether the client may cache the response, or has cached it. */
  readonly conditions: Conditions;
  /** Aborts when the client disconnects before the response is complete. */
  readonly signal: AbortSignal;
  /**
   * Runs `answer` once the user has a place for another streamed response. The place is freed when the response ends.
   * @throws {RequestRefusedError} 429 if no place becomes free in time.
   */
  streamed(answer: () => Promise<Answer> | Answer): Promise<Answer>;
}

/** The client that sent a request. */
export interface Client {
  readonly address: string;
  /** Empty if the header is missing. */
  readonly userAgent: string;
  /** Null if no cookie has the right form. */
  readonly sessionToken: string | null;
  readonly cookies: CookieScope;
}

export interface ApiRequest<Q extends Fields, P extends Fields, B extends Members = Members>
  extends Omit<RawRequest, 'query' | 'path' | 'body' | 'streamed'> {
  readonly query: Values<Q>;
  readonly path: Values<P>;
  readonly body: MemberValues<B>;
}

/** A response: a complete body as text, or a stream. JSON unless `contentType` says otherwise. */
export interface Answer {
  readonly status?: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body: string | Readable;
  /** Takes over the socket if the request asked for an upgrade; otherwise the plain response is sent. */
  readonly upgrade?: (upgraded: Upgraded) => void;
}

/** The body for a HEAD of a streamed answer: nothing is read for it, and the head has no length. */
export function streamedHead(): Readable {
  return Readable.from([]);
}

/** A WebSocket and its underlying connection, which emits `drain`. */
interface Upgraded {
  readonly socket: WebSocket;
  readonly transport: Duplex;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The access rule of a route. It is mandatory: a route without one does not compile. */
interface Access {
  /** The feature that the tier must include (else 403). Null: every tier, or the route needs no user. */
  readonly feature: Feature | null;
  /** Also available during maintenance, while everything else is 503. */
  readonly duringMaintenance?: boolean;
}

interface Declaration<Q extends Fields, P extends Fields, B extends Members> {
  readonly method: Method;
  /** With `{name}` for path parameters, as in the API description. */
  readonly path: string;
  /** Required credential: an API key, a session, an operator's session, or none. */
  readonly auth: 'key' | 'session' | 'operator' | 'none';
  readonly access: Access;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Q;
  readonly pathFields?: P;
  /** Fields of the JSON object in the body; if omitted, a body is ignored. */
  readonly body?: B;
  /** Status of success, 200 unless given; 204 has no body. */
  readonly success?: 200 | 201 | 202 | 204;
  /** Error statuses beside those that follow from the rest of the declaration. */
  readonly refusals?: readonly number[];
  /**
   * Shape of a successful response; null if it is not JSON. Used for the description and in tests, never at run time.
   */
  readonly response: z.ZodType | null;
  /** Responses about a range that can no longer change carry a validator and may be cached. */
  readonly cacheable?: boolean;
  /** A WebSocket: the key may also be in `api_key`, because browsers cannot set headers on it. */
  readonly socket?: boolean;
  /** Media types of a response that is not JSON. */
  readonly produces?: string | readonly string[];
  /**
   * Runs before the body is read, so a refusal costs no parsing. Counts attempts by the client's address.
   * @throws {RequestRefusedError}
   */
  readonly beforeBody?: (address: string) => void | Promise<void>;
  handle(request: ApiRequest<Q, P, B>): Promise<Answer> | Answer;
}

/** One operation of the API: its handler, its access rule and its description. */
export interface Route
  extends Pick<
    Declaration<Fields, Fields, Members>,
    | 'method'
    | 'path'
    | 'auth'
    | 'access'
    | 'summary'
    | 'description'
    | 'success'
    | 'refusals'
    | 'response'
    | 'cacheable'
    | 'socket'
    | 'produces'
    | 'beforeBody'
  > {
  readonly queryFields: Fields;
  readonly pathFields: Fields;
  readonly bodyMembers: Members | null;
  /** The path of the route whose handler this one reuses; that route is the one described. */
  readonly mirrors?: string;
  handle(request: RawRequest): Promise<Answer> | Answer;
}

/**
 * Declares a route. Its parameters are parsed here, and all invalid ones are reported in one response, path before
 * query before body: 422 first, then 400 for a request that is invalid as a whole.
 */
export function route<
  Q extends Fields = Record<never, never>,
  P extends Fields = Record<never, never>,
  B extends Members = Record<never, never>,
>(declaration: Declaration<Q, P, B>): Route {
  const { query: queryFields = {} as Q, pathFields = {} as P, body: members, handle, ...rest } = declaration;
  return {
    ...rest,
    queryFields,
    pathFields,
    bodyMembers: members ?? null,
    handle(request) {
      const path = readFields(pathFields, request.path, 'path');
      const query = readFields(queryFields, request.query, 'query');
      const body = members ? readBody(members, request.body) : null;
      if (path.problems.length + query.problems.length + (body?.problems.length ?? 0) > 0) {
        throw invalid([...path.problems, ...query.problems, ...(body?.problems ?? [])]);
      }
      const refusal = path.refusal ?? query.refusal ?? body?.refusal ?? null;
      if (refusal !== null) throw badRequest(refusal);
      const values = {
        path: path.values,
        query: query.values,
        body: (body?.values ?? {}) as MemberValues<B>,
      };
      const answer = () => handle(new ParsedRequest(request, values));
      const isLong = rest.access.feature === 'export' || isStreamed(limitOf(values.query));
      return isLong && !request.headOnly ? request.streamed(answer) : answer();
    },
  };
}

function limitOf(query: object): number {
  return 'limit' in query && typeof query.limit === 'number' ? query.limit : 0;
}

/**
 * Passes on everything but the parameters lazily: most handlers need little of it, and some values are computed when
 * read.
 */
class ParsedRequest<Q extends Fields, P extends Fields, B extends Members> implements ApiRequest<Q, P, B> {
  readonly query: Values<Q>;
  readonly path: Values<P>;
  readonly body: MemberValues<B>;
  readonly #raw: RawRequest;

  constructor(raw: RawRequest, values: { path: Values<P>; query: Values<Q>; body: MemberValues<B> }) {
    this.#raw = raw;
    this.path = values.path;
    this.query = values.query;
    this.body = values.body;
  }

  get session(): SignedIn | null {
    return this.#raw.session;
  }

  get client(): Client {
    return this.#raw.client;
  }

  get identity(): Identity | null {
    return this.#raw.identity;
  }

  get limits(): TierLimits {
    return this.#raw.limits;
  }

  get history(): HistoryWindow {
    return this.#raw.history;
  }

  get headOnly(): boolean {
    return this.#raw.headOnly;
  }

  get conditions(): Conditions {
    return this.#raw.conditions;
  }

  get signal(): AbortSignal {
    return this.#raw.signal;
  }
}
