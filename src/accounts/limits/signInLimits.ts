import { LRUCache } from 'lru-cache';
import type { Clock } from '../../runtime/clock.ts';
import { addressGroup } from './limitsAddress.ts';
import { AdmittedRequests, type Quota } from './limitsWindow.ts';

const WINDOW_MS = 15 * 60_000;
/** Enough for an office behind one address; guessing passwords needs more. */
const PER_ADDRESS: readonly Quota[] = [{ name: 'address', requests: 100, windowMs: WINDOW_MS }];
/** More than one person mistypes; attempts from other addresses do not count. */
const PER_EMAIL_AND_ADDRESS: readonly Quota[] = [
  { name: 'email_and_address', requests: 10, windowMs: WINDOW_MS },
];
/** From all addresses unknown to the account together, so many of them guess no faster than this. */
const PER_EMAIL: readonly Quota[] = [{ name: 'email', requests: 200, windowMs: WINDOW_MS }];
/** Sign-ups from one network address: enough for a household or a course, too few to collect accounts. */
const SIGN_UPS: readonly Quota[] = [{ name: 'sign-up', requests: 5, windowMs: 3_600_000 }];
/** Maximum number of tracked names of each kind; the least recently active one is evicted. */
const NAMES_MAX = 20_000;
/** Maximum number of remembered addresses that signed in to an account. */
const PROVEN_MAX = 20_000;

/**
 * Limits password attempts. An attempt counts before its password is checked, so concurrent attempts are limited like
 * sequential ones. A stranger cannot lock a user out: attempts count by e-mail and address together. The limit on all
 * addresses together does not apply to an address that has signed in to the account before.
 */
export class SignInLimits {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #addresses = attemptsByName();
  readonly #pairs = attemptsByName();
  readonly #emails = attemptsByName();
  /** Pairs that have signed in. */
  readonly #proven = new LRUCache<string, true>({ max: PROVEN_MAX });
  readonly #signUps = attemptsByName();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Counts a request of an address. @returns Whole seconds until another is admitted; 0 if this one is. */
  addressAttempt(address: string): number {
    return seconds(this.#count(this.#addresses, addressGroup(address), PER_ADDRESS));
  }

  /** Counts a sign-up, successful or not. @returns Like {@link addressAttempt}. */
  signUp(address: string): number {
    return seconds(this.#count(this.#signUps, addressGroup(address), SIGN_UPS));
  }

  /** Counts a password tried for an account. @returns Like {@link addressAttempt}. */
  accountAttempt(who: { address: string; email: string }): number {
    const pair = pairOf(who);
    const waitMs = this.#count(this.#pairs, pair, PER_EMAIL_AND_ADDRESS);
    if (waitMs > 0 || this.#proven.has(pair)) return seconds(waitMs);
    return seconds(this.#count(this.#emails, who.email, PER_EMAIL));
  }

  /** The password was right: clears the attempts that this address used for the account. */
  succeeded(who: { address: string; email: string }): void {
    const pair = pairOf(who);
    this.#pairs.delete(pair);
    this.#proven.set(pair, true);
  }

  #count(known: AttemptsByName, name: string, quotas: readonly Quota[]): number {
    const attempts = known.get(name) ?? new AdmittedRequests(quotas);
    known.set(name, attempts);
    return attempts.admit(this.#clock.monotonic());
  }
}

type AttemptsByName = LRUCache<string, AdmittedRequests>;

function attemptsByName(): AttemptsByName {
  return new LRUCache({ max: NAMES_MAX });
}

/** A space separates the two, because an e-mail address contains none. */
function pairOf({ address, email }: { address: string; email: string }): string {
  return `${email} ${addressGroup(address)}`;
}

function seconds(waitMs: number): number {
  return Math.ceil(waitMs / 1000);
}
