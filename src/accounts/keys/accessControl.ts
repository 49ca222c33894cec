import type { User } from '../users/users.ts';
import type { AuthFailure, Identity } from './authenticate.ts';
import type { Moment } from './freshness.ts';

/** Maintenance mode, set by the operator: all requests are refused. */
export interface Maintenance {
  readonly retryAfterSeconds: number;
  /** The message for clients; null: the default text. */
  readonly message: string | null;
}

/** A signed-in browser. */
export interface SignedIn {
  readonly sessionId: string;
  readonly user: User;
}

/** Access decisions for a request. The result is synchronous if it is cached, otherwise a promise. */
export interface AccessControl {
  /** Call once per request: cached rows count if they are still valid at this moment. Never throws. */
  moment(): Moment;
  maintenance(moment: Moment): Maintenance | null | Promise<Maintenance | null>;
  /** @param authorization The header as received. */
  authenticate(
    authorization: string | undefined,
    moment: Moment,
  ): Identity | AuthFailure | Promise<Identity | AuthFailure>;
  /** @param token Value of the session cookie. */
  signedIn(token: string, moment: Moment): SignedIn | null | Promise<SignedIn | null>;
}
