import type { Clock } from '../clock.ts';
import { addressGroup } from './limitsAddress.ts';
import { AdmittedRequests, type Quota } from './limitsWindow.ts';

const WINDOW_MS = 15 * 60_000;
/** An office behind one address signs in all at once; guessing passwords needs more. */
const PER_ADDRESS: readonly Quota[] = [{ name: 'address', requests: 100, windowMs: WINDOW_MS }];
/** From wherever they come: someone with many addresses gets no more tries at one person. */
const PER_EMAIL: readonly Quota[] = [{ name: 'email', requests: 10, windowMs: WINDOW_MS }];
/** Accounts that one network address may ask for: a household or a course, and no stock of accounts. */
const SIGN_UPS: readonly Quota[] = [{ name: 'sign-up', requests: 5, windowMs: 3_600_000 }];
/** Names remembered of each kind; beyond it the one that tried longest ago is forgotten. */
const MAX_NAMES = 20_000;

/**
 * How often passwords may be tried. An attempt counts before its password is checked, so that many at once are not
 * more than many in a row; one that succeeds clears what its address of e-mail had used up.
 */
export class SignInLimits {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #addresses = new Map<string, AdmittedRequests>();
  readonly #emails = new Map<string, AdmittedRequests>();
  readonly #signUps = new Map<string, AdmittedRequests>();

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** One request of an address. @returns Whole seconds until another is admitted; 0: this one is. */
  addressAttempt(address: string): number {
    return Math.ceil(this.#take(this.#addresses, addressGroup(address), PER_ADDRESS) / 1000);
  }

  /** One password tried for an account. @returns As {@link addressAttempt}. */
  accountAttempt({ email }: { address: string; email: string }): number {
    return Math.ceil(this.#take(this.#emails, email, PER_EMAIL) / 1000);
  }

  /** Counts a sign-up, whether it succeeds or not. @returns Whole seconds until one is admitted; 0: this one is. */
  signUp(address: string): number {
    return Math.ceil(this.#take(this.#signUps, addressGroup(address), SIGN_UPS) / 1000);
  }

  succeeded(email: string): void {
    this.#emails.delete(email);
  }

  #take(known: Map<string, AdmittedRequests>, name: string, quotas: readonly Quota[]): number {
    const attempts = known.get(name) ?? new AdmittedRequests(quotas);
    known.delete(name);
    const [longestAgo] = known.keys();
    if (known.size >= MAX_NAMES && longestAgo !== undefined) known.delete(longestAgo);
    known.set(name, attempts);
    return attempts.take(this.#clock.monotonic());
  }
}
