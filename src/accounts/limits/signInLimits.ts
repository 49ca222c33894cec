import { boundedCache } from '../../runtime/boundedCache.ts';
import { addressGroup } from './limitsAddress.ts';
import type { Quota } from './limitsWindow.ts';
import { type CounterSource, type RateCounters, waitSeconds } from './rateCounters.ts';

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
  readonly #addresses: RateCounters;
  readonly #pairs: RateCounters;
  readonly #emails: RateCounters;
  /** Pairs that have signed in at this process. */
  readonly #proven = boundedCache<true>(PROVEN_MAX);
  readonly #signUps: RateCounters;

  constructor(source: CounterSource) {
    this.#addresses = source('sign-in address', NAMES_MAX);
    this.#pairs = source('sign-in pair', NAMES_MAX);
    this.#emails = source('sign-in email', NAMES_MAX);
    this.#signUps = source('sign-up', NAMES_MAX);
  }

  /** Counts a request of an address. @returns Whole seconds until another is admitted; 0 if this one is. */
  addressAttempt(address: string): number | Promise<number> {
    return count(this.#addresses, addressGroup(address), PER_ADDRESS);
  }

  /** Counts a sign-up, successful or not. @returns Like {@link addressAttempt}. */
  signUp(address: string): number | Promise<number> {
    return count(this.#signUps, addressGroup(address), SIGN_UPS);
  }

  /**
   * Counts a password tried for an account.
   * @param signedInFrom Network addresses at which the account is signed in now, in any process; asked only when the
   * limit of the account is reached.
   * @returns Like {@link addressAttempt}.
   */
  async accountAttempt(
    who: { address: string; email: string },
    signedInFrom: () => Promise<readonly string[]> = async () => [],
  ): Promise<number> {
    const pair = pairOf(who);
    const seconds = await count(this.#pairs, pair, PER_EMAIL_AND_ADDRESS);
    if (seconds > 0 || this.#proven.has(pair)) return seconds;
    const secondsOfAll = await count(this.#emails, who.email, PER_EMAIL);
    if (secondsOfAll === 0) return 0;
    const group = addressGroup(who.address);
    return (await signedInFrom()).some((address) => addressGroup(address) === group) ? 0 : secondsOfAll;
  }

  /** The password was right: clears the attempts that this address used for the account. */
  async succeeded(who: { address: string; email: string }): Promise<void> {
    const pair = pairOf(who);
    this.#proven.set(pair, true);
    await this.#pairs.clear(pair);
  }
}

function count(counters: RateCounters, name: string, quotas: readonly Quota[]): number | Promise<number> {
  const counted = counters.count(name, quotas);
  return counted instanceof Promise ? counted.then(waitSeconds) : waitSeconds(counted);
}

/** A space separates the two, because an e-mail address contains none. */
function pairOf({ address, email }: { address: string; email: string }): string {
  return `${email} ${addressGroup(address)}`;
}
