import type { Clock } from '../../runtime/clock.ts';
import { addressGroup } from './limitsAddress.ts';
import { AdmittedRequests, type Quota } from './limitsWindow.ts';

const WINDOW_MS = 15 * 60_000;
/** An office behind one address signs in all at once; guessing passwords needs more. */
const PER_ADDRESS: readonly Quota[] = [{ name: 'address', requests: 100, windowMs: WINDOW_MS }];
/** One person mistypes less often; a stranger elsewhere uses up none of these. */
const PER_EMAIL_AND_ADDRESS: readonly Quota[] = [
  { name: 'email_and_address', requests: 10, windowMs: WINDOW_MS },
];
/** From all addresses the account does not know: many of them guess together no faster than this. */
const PER_EMAIL: readonly Quota[] = [{ name: 'email', requests: 200, windowMs: WINDOW_MS }];
/** Accounts that one network address may ask for: a household or a course, and no stock of accounts. */
const SIGN_UPS: readonly Quota[] = [{ name: 'sign-up', requests: 5, windowMs: 3_600_000 }];
/** Names remembered of each kind; beyond it the one that tried longest ago is forgotten. */
const NAMES_MAX = 20_000;
/** Addresses remembered that signed in to some account. */
const PROVEN_MAX = 20_000;

/**
 * How often passwords may be tried. An attempt counts before its password is checked, so that many at once are not
 * more than many in a row. A stranger cannot lock a user out: attempts count by e-mail and address together, and the
 * bound on all addresses together does not apply to one that has signed in to this account before.
 */
export class SignInLimits {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #addresses = new Map<string, AdmittedRequests>();
  readonly #pairs = new Map<string, AdmittedRequests>();
  readonly #emails = new Map<string, AdmittedRequests>();
  /** Pairs that have signed in, the one that did so longest ago first. */
  readonly #proven = new Set<string>();
  readonly #signUps = new Map<string, AdmittedRequests>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** One request of an address. @returns Whole seconds until another is admitted; 0: this one is. */
  addressAttempt(address: string): number {
    return seconds(this.#take(this.#addresses, addressGroup(address), PER_ADDRESS));
  }

  /** Counts a sign-up, whether it succeeds or not. @returns As {@link addressAttempt}. */
  signUp(address: string): number {
    return seconds(this.#take(this.#signUps, addressGroup(address), SIGN_UPS));
  }

  /** One password tried for an account. @returns As {@link addressAttempt}. */
  accountAttempt(who: { address: string; email: string }): number {
    const pair = pairOf(who);
    const waitMs = this.#take(this.#pairs, pair, PER_EMAIL_AND_ADDRESS);
    if (waitMs > 0 || this.#proven.has(pair)) return seconds(waitMs);
    return seconds(this.#take(this.#emails, who.email, PER_EMAIL));
  }

  /** The password was right: what this address used up of the account's attempts is free again. */
  succeeded(who: { address: string; email: string }): void {
    const pair = pairOf(who);
    this.#pairs.delete(pair);
    this.#proven.delete(pair);
    const [longestAgo] = this.#proven;
    if (this.#proven.size >= PROVEN_MAX && longestAgo !== undefined) this.#proven.delete(longestAgo);
    this.#proven.add(pair);
  }

  #take(known: Map<string, AdmittedRequests>, name: string, quotas: readonly Quota[]): number {
    const attempts = known.get(name) ?? new AdmittedRequests(quotas);
    known.delete(name);
    const [longestAgo] = known.keys();
    if (known.size >= NAMES_MAX && longestAgo !== undefined) known.delete(longestAgo);
    known.set(name, attempts);
    return attempts.take(this.#clock.monotonic());
  }
}

/** An e-mail address holds no space. */
function pairOf({ address, email }: { address: string; email: string }): string {
  return `${email} ${addressGroup(address)}`;
}

function seconds(waitMs: number): number {
  return Math.ceil(waitMs / 1000);
}
