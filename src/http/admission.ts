import type { FastifyReply, FastifyRequest } from 'fastify';
import type { AccessControl, Maintenance, SignedIn } from '../accounts/keys/accessControl.ts';
import { type AuthFailure, type Identity, isAuthFailure } from '../accounts/keys/authenticate.ts';
import type { Moment } from '../accounts/keys/freshness.ts';
import type { RateLimits, RateVerdict } from '../accounts/limits/limits.ts';
import { permits, type TierLimits, type TierTable, tiersThatDo } from '../accounts/users/tiers.ts';
import type { Tier } from '../schema/tier.ts';
import type { QueryParameters } from './queryString.ts';
import { forbidden, type RequestRefusedError, retryIn, unauthorized, underMaintenance } from './refusal.ts';
import type { Route } from './route.ts';
import { sessionToken } from './sessionCookie.ts';

const CHANGES_NOTHING = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Header values for pages of our own and for an address that the user typed. */
const OWN_SITE = new Set(['same-origin', 'none']);
/** Requests decided before other work may run: one connection may send tens of thousands at once. */
export const DECISIONS_A_TURN = 100;
/** Minimum rates of a signed-in user, for tiers with lower limits. */
const DASHBOARD_FLOOR = { requests_per_second: 10, requests_per_minute: 300 };

export interface AdmissionParts {
  readonly accounts: AccessControl;
  /** What each tier may do. */
  readonly tiers: TierTable;
  /** Null: request rates are not limited. */
  readonly rateLimits: RateLimits | null;
}

type Call = { readonly route: Route; readonly request: FastifyRequest; readonly reply: FastifyReply };
/** Called once; without an error the request is admitted. */
type Decided = (error?: Error) => void;

/**
 * The one place that decides whether a request reaches its handler. It checks in this order: maintenance (503), key
 * (401), request rate (429), the tier's permission for the route (403). It runs before any body is read, so a client
 * without a key cannot send megabytes.
 *
 * The requests read in one turn of the event loop are decided together, in order and at most {@link DECISIONS_A_TURN}
 * a turn, after the last of them was read. So one check of whether the control database changed is enough for all of a
 * turn, and no request is decided by state older than its arrival. Their responses are sent together, which wakes a
 * reader once instead of once per response.
 */
export class Admission {
  readonly #parts: AdmissionParts;
  #arrived: { readonly call: Call; readonly decided: Decided }[] = [];

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
  }

  /**
   * `decided` receives the {@link RequestRefusedError} of a refused request, or the error that prevented the decision.
   */
  admit(call: Call, decided: Decided): void {
    if (this.#arrived.length === 0) setImmediate(() => this.#decideSome());
    this.#arrived.push({ call, decided });
  }

  /**
   * Counts a 4xx response to a request without a known user against the client's address.
   * @returns The 429 to send instead once the address has had too many; null: send the original response.
   */
  refused(
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
  ): RequestRefusedError | null | Promise<RequestRefusedError | null> {
    const { rateLimits } = this.#parts;
    const isStranger = status >= 400 && status < 500 && !request.identity;
    if (!rateLimits || !isStranger) return null;
    const verdict = rateLimits.failure(request.ip);
    return verdict instanceof Promise
      ? verdict.then((late) => refusedWith(late, reply, status))
      : refusedWith(verdict, reply, status);
  }

  #decideSome(): void {
    const arrived = this.#arrived.splice(0, DECISIONS_A_TURN);
    if (this.#arrived.length > 0) setImmediate(() => this.#decideSome());
    const moment = this.#parts.accounts.moment();
    for (const { call, decided } of arrived) {
      let waiting: void | Promise<void>;
      try {
        waiting = this.#decide(call, moment);
      } catch (error) {
        decided(error as Error);
        continue;
      }
      if (waiting) waiting.then(() => decided(), decided);
      else decided();
    }
  }

  /**
   * Admits the call, or throws the refusal. Returns a promise only if the database must be read, and then rejects with
   * the refusal.
   */
  #decide(call: Call, moment: Moment): void | Promise<void> {
    if (call.route.access.duringMaintenance) return this.#identify(call, moment);
    const state = this.#parts.accounts.maintenance(moment);
    if (state instanceof Promise) return state.then((late) => this.#checkMaintenance(late, call, moment));
    return this.#checkMaintenance(state, call, moment);
  }

  #checkMaintenance(state: Maintenance | null, call: Call, moment: Moment): void | Promise<void> {
    if (state === null) return this.#identify(call, moment);
    const standing = this.#parts.rateLimits?.standing(call.request.ip);
    const refuse = (verdict: RateVerdict | undefined) => {
      if (verdict) setRateHeaders(call.reply, verdict);
      throw underMaintenance(state.retryAfterSeconds, state.message);
    };
    return standing instanceof Promise ? standing.then(refuse) : refuse(standing);
  }

  #identify(call: Call, moment: Moment): void | Promise<void> {
    if (isDashboard(call.route)) checkSameOrigin(call.request, { isSocket: call.route.socket });
    if (call.route.auth === 'none') return this.#checkStranger(call);
    if (call.route.auth !== 'key') return this.#signedIn(call, moment);
    const result = this.#parts.accounts.authenticate(authorizationOf(call), moment);
    if (result instanceof Promise) return result.then((late) => this.#judge(late, call));
    return this.#judge(result, call);
  }

  #judge(result: Identity | AuthFailure, { route, request, reply }: Call): void | Promise<void> {
    if (isAuthFailure(result)) throw unauthorized(result.detail);
    const { tiers } = this.#parts;
    request.identity = result;
    const waiting = this.#checkRate(result, `keys ${result.userId}`, tiers[result.tier], reply);
    if (waiting) return waiting.then(() => this.#checkTier(route, result));
    this.#checkTier(route, result);
  }

  /** Checks an anonymous request before its body is read. */
  #checkStranger({ route, request }: Call): void | Promise<void> {
    const waitSeconds = route.bodyMembers ? (this.#parts.rateLimits?.refusalsUsedUp(request.ip) ?? 0) : 0;
    const check = (seconds: number) => {
      if (seconds > 0) throw tooManyRefusals(seconds);
      return route.beforeBody?.(request.ip);
    };
    return waitSeconds instanceof Promise ? waitSeconds.then(check) : check(waitSeconds);
  }

  /**
   * Like a key, but with the session cookie. A page sends several requests at once, so no tier is slower than the
   * floor.
   */
  #signedIn(call: Call, moment: Moment): void | Promise<void> {
    const token = sessionToken(call.request);
    const session = token === null ? null : this.#parts.accounts.signedIn(token, moment);
    if (session instanceof Promise) return session.then((late) => this.#judgeSession(late, call));
    return this.#judgeSession(session, call);
  }

  #judgeSession(session: SignedIn | null, { route, request, reply }: Call): void | Promise<void> {
    const { tiers } = this.#parts;
    if (session === null) throw unauthorized('Not signed in, or the session is over');
    const { userId, email, tier, operator } = session.user;
    request.session = session;
    const identity = { keyId: session.sessionId, userId, email, tier };
    request.identity = identity;
    const check = () => {
      if (route.auth === 'operator' && !operator) throw forbidden('Only an operator may do this');
      this.#checkTier(route, identity);
      return route.beforeBody?.(request.ip);
    };
    const waiting = this.#checkRate(identity, `dashboard ${userId}`, atLeast(tiers[tier]), reply);
    return waiting ? waiting.then(check) : check();
  }

  /**
   * Limits are per user: all keys share one allowance, so a new key adds none. The dashboard has a separate allowance.
   */
  #checkRate(
    { tier }: Identity,
    client: string,
    limits: TierLimits,
    reply: FastifyReply,
  ): void | Promise<void> {
    const verdict = this.#parts.rateLimits?.request(client, limits);
    if (!verdict) return;
    if (verdict instanceof Promise) return verdict.then((late) => checkVerdict(late, tier, reply));
    checkVerdict(verdict, tier, reply);
  }

  #checkTier({ access: { feature } }: Route, { tier }: Identity): void {
    const { tiers } = this.#parts;
    if (feature !== null && !permits(tiers[tier], feature)) {
      throw forbidden(`Tier ${tier} does not include this endpoint; ${tiersThatDo(tiers, feature)}`);
    }
  }
}

/**
 * Refuses requests that a page of another site makes a browser send, because the browser would include the session
 * cookie. Browsers report the source of a request in `Sec-Fetch-Site`. Older ones, and browsers without TLS, report it
 * in `Origin` with every handshake and every request that changes something. A request with neither header is not from
 * a browser, so no other site's page caused it. A request that changes nothing is admitted, because other sites cannot
 * read its response. A WebSocket is not, because they could read its messages.
 * @throws {RequestRefusedError} 403.
 * @see https://pkg.go.dev/net/http#CrossOriginProtection, which uses the same rules.
 */
function checkSameOrigin(
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  { isSocket = false }: { isSocket?: boolean | undefined } = {},
): void {
  if (CHANGES_NOTHING.has(method) && !isSocket) return;
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (site === undefined && origin === undefined) return;
  const own = site === undefined ? isOwn(origin, host) : OWN_SITE.has(String(site));
  if (!own) throw forbidden('Cross-site request refused');
}

/** Compares name and port only: a proxy may have removed TLS, so the scheme is unreliable. */
function isOwn(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host.toLowerCase();
}

/** The header. A WebSocket may send the key in its query instead, because browsers cannot set headers on it. */
function authorizationOf({ route, request }: Call): string | undefined {
  const authorization = everyAuthorization(request.raw.rawHeaders);
  if (authorization !== undefined || !route.socket) return authorization;
  const key = (request.query as QueryParameters).api_key;
  return key === undefined ? undefined : `Bearer ${key}`;
}

const AUTHORIZATION = 'authorization';

/**
 * Joins repeated headers into one list (RFC 9110, 5.3), which is never a valid key. Node keeps only the first, but a
 * proxy in front of the service may have checked another.
 */
function everyAuthorization(rawHeaders: readonly string[]): string | undefined {
  let all: string | undefined;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string;
    // Comparing the length first rules out nearly all other headers at no cost.
    if (name.length !== AUTHORIZATION.length || name.toLowerCase() !== AUTHORIZATION) continue;
    const value = rawHeaders[at + 1] as string;
    all = all === undefined ? value : `${all}, ${value}`;
  }
  return all;
}

/** @throws {RequestRefusedError} 429 with the time to wait. */
function checkVerdict(verdict: RateVerdict, tier: Tier, reply: FastifyReply): void {
  setRateHeaders(reply, verdict);
  if (verdict.retryAfterSeconds === 0) return;
  throw retryIn(verdict.retryAfterSeconds, `Rate limit of tier ${tier} exceeded`);
}

/** The 429 to send instead of a stranger's refusal; null: send the original response. */
function refusedWith(verdict: RateVerdict, reply: FastifyReply, status: number): RequestRefusedError | null {
  setRateHeaders(reply, verdict);
  const isTooMany = verdict.retryAfterSeconds > 0 && status !== 429;
  return isTooMany ? tooManyRefusals(verdict.retryAfterSeconds) : null;
}

function setRateHeaders(reply: FastifyReply, { policy, limit }: RateVerdict): void {
  reply.header('ratelimit-policy', policy).header('ratelimit', limit);
}

const tooManyRefusals = (waitSeconds: number) =>
  retryIn(waitSeconds, 'Too many refused requests from this address');

const floors = new WeakMap<TierLimits, TierLimits>();

/** Returns the same object for the same tier, because rate limits are cached by it. */
function atLeast(limits: TierLimits): TierLimits {
  const known = floors.get(limits);
  if (known) return known;
  const { requests_per_second, requests_per_minute } = DASHBOARD_FLOOR;
  const raised = {
    ...limits,
    requests_per_second: Math.max(limits.requests_per_second, requests_per_second),
    requests_per_minute: Math.max(limits.requests_per_minute, requests_per_minute),
  };
  floors.set(limits, raised);
  return raised;
}

function isDashboard({ path }: Route): boolean {
  return path.startsWith('/app/');
}
