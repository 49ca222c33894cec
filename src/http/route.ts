import type { Duplex, Readable } from 'node:stream';
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

/** What every handler gets, before its own parameters are read. */
export interface RawRequest {
  readonly query: QueryParameters;
  readonly path: Readonly<Record<string, string>>;
  /** Null on routes without a key or a session. */
  readonly identity: Identity | null;
  /** Null on routes without a session. */
  readonly session: SignedIn | null;
  /** As parsed; undefined where there was none. */
  readonly body: unknown;
  readonly client: Client;
  /** What the identity's tier may do. @throws {TypeError} On routes without a key: a defect of the program. */
  readonly limits: TierLimits;
  /** How far back the identity's tier may read. @throws {TypeError} As `limits`. */
  readonly history: HistoryWindow;
  /** HEAD: the head counts, no body is made. */
  readonly headOnly: boolean;
  /** Whether the client may keep the answer, or has kept it. */
  readonly conditions: Conditions;
  /** Aborts when the client goes away before the answer is whole. */
  readonly signal: AbortSignal;
  /**
   * Answers when the user has a place for one more streamed answer, which is given back when the answer has ended.
   * @throws {RequestRefusedError} 429 when there is none for long.
   */
  streamed(answer: () => Promise<Answer> | Answer): Promise<Answer>;
}

/** Where a request comes from. */
export interface Client {
  readonly address: string;
  /** Empty where it says nothing. */
  readonly userAgent: string;
  /** Null where it sent none of the right form. */
  readonly sessionToken: string | null;
  readonly cookies: CookieScope;
}

export interface ApiRequest<Q extends Fields, P extends Fields, B extends Members = Members>
  extends Omit<RawRequest, 'query' | 'path' | 'body' | 'streamed'> {
  readonly query: Values<Q>;
  readonly path: Values<P>;
  readonly body: MemberValues<B>;
}

/** A whole body as text, or one that streams. JSON unless `contentType` says otherwise. */
export interface Answer {
  readonly status?: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body: string | Readable;
  /** Takes over the socket where the request asked for one; the rest is for who did not. */
  readonly upgrade?: (upgraded: Upgraded) => void;
}

/** A socket with what lies under it, which tells when it has drained. */
export interface Upgraded {
  readonly socket: WebSocket;
  readonly transport: Duplex;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The tier rule of a route. Every route has one: it does not compile without. */
export interface Access {
  /** What the tier must permit (else 403); null: every tier, or no user stands behind the request. */
  readonly feature: Feature | null;
  /** Answers during maintenance too, while everything else is 503. */
  readonly duringMaintenance?: boolean;
}

interface Declaration<Q extends Fields, P extends Fields, B extends Members> {
  readonly method: Method;
  /** With `{name}` for path parameters, as the API description writes it. */
  readonly path: string;
  /** An API key, a signed-in browser, one of an operator, or nothing. */
  readonly auth: 'key' | 'session' | 'operator' | 'none';
  readonly access: Access;
  readonly summary: string;
  readonly description?: string;
  readonly query?: Q;
  readonly pathFields?: P;
  /** Members of the JSON object that is the body; left out: a body is not looked at. */
  readonly body?: B;
  /** Status of success, 200 unless given; 204 has no body. */
  readonly success?: 200 | 201 | 202 | 204;
  /** Statuses of refusals beside those that follow from the rest of the declaration. */
  readonly refusals?: readonly number[];
  /** Shape of a successful answer; null where it is not JSON. It describes and tests, it never runs on a request. */
  readonly response: z.ZodType | null;
  /** Answers about a range that can change no more carry a validator and may be kept. */
  readonly cacheable?: boolean;
  /** A WebSocket: its key may also stand in `api_key`, since browsers send no header with one. */
  readonly socket?: boolean;
  /** Media types of an answer that is not JSON. */
  readonly produces?: string | readonly string[];
  /**
   * Runs before the body is read, so that what it refuses costs no parsing. Counts attempts by the client's address.
   * @throws {RequestRefusedError}
   */
  readonly beforeBody?: (address: string) => void;
  handle(request: ApiRequest<Q, P, B>): Promise<Answer> | Answer;
}

/** One operation of the API: what is served, to whom, how it is described. */
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
  /** The path whose handler this one serves again; it is described there. */
  readonly mirrors?: string;
  handle(request: RawRequest): Promise<Answer> | Answer;
}

/**
 * Declares a route. Its parameters are read and refused here, all failing ones in one answer, path before query
 * before body: 422 first, then 400 for what is malformed as a whole.
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

/** Hands everything but the parameters on unread: most answers need little of it, and some of it is made when read. */
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
