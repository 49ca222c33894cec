import type { User } from '../users/users.ts';
import type { AuthFailure, Identity } from './authenticate.ts';
import type { Moment } from './freshness.ts';

/** The operator has closed the service to everyone for a while. */
export interface Maintenance {
  readonly retryAfterSeconds: number;
  /** What clients are told; null: the usual words. */
  readonly message: string | null;
}

/** A browser that is signed in. */
export interface SignedIn {
  readonly sessionId: string;
  readonly user: User;
}

/** What is asked about each request. What is known from memory is answered at once, else as a promise. */
export interface AccessControl {
  /** One for each request: what was read before counts by whether it holds at this moment. */
  moment(): Moment;
  maintenance(moment: Moment): Maintenance | null | Promise<Maintenance | null>;
  /** @param authorization The header as received. */
  authenticate(
    authorization: string | undefined,
    moment: Moment,
  ): Identity | AuthFailure | Promise<Identity | AuthFailure>;
  /** @param token Of the session cookie. */
  signedIn(token: string, moment: Moment): SignedIn | null | Promise<SignedIn | null>;
}
