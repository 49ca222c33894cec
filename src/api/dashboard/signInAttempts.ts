import type { Accounts } from '../../accounts/accounts.ts';
import type { RateLimits } from '../../accounts/limits/limits.ts';
import { memoryCounters } from '../../accounts/limits/rateCounters.ts';
import { SignInLimits } from '../../accounts/limits/signInLimits.ts';
import { retryIn } from '../../http/refusal.ts';
import type { Clock } from '../../runtime/clock.ts';

/**
 * Limits attempts to sign in, to sign up and to enter a password or code. Each attempt is counted before it is checked.
 * With `UNDERROUND_RATE_LIMITS=off` none is refused.
 */
export class SignInAttempts {
  readonly #limits: SignInLimits;
  readonly #isOn: boolean;
  readonly #control: Pick<Accounts, 'sessions'>;

  constructor(parts: {
    clock: Clock;
    rateLimits: RateLimits | null;
    control: Pick<Accounts, 'sessions'>;
  }) {
    const { clock, rateLimits } = parts;
    this.#control = parts.control;
    this.#limits = new SignInLimits(rateLimits?.source ?? memoryCounters(clock));
    this.#isOn = rateLimits !== null;
  }

  /**
   * Counts a request of an address before its body is read. @throws {RequestRefusedError} 429 with the time to wait.
   */
  readonly beforeBody = (address: string): void | Promise<void> => {
    if (!this.#isOn) return;
    const seconds = this.#limits.addressAttempt(address);
    return seconds instanceof Promise ? seconds.then(refuseFor) : refuseFor(seconds);
  };

  /** Counts a password or code tried for an account. @throws {RequestRefusedError} 429 with the time to wait. */
  async tryAccount(account: { address: string; email: string }): Promise<void> {
    const signedInFrom = () => this.#control.sessions.addresses(account.email);
    if (this.#isOn) refuseFor(await this.#limits.accountAttempt(account, signedInFrom));
  }

  /** @throws {RequestRefusedError} 429 with the time to wait. */
  async signUp(address: string): Promise<void> {
    if (this.#isOn) refuseFor(await this.#limits.signUp(address), 'Too many sign-ups from this address');
  }

  /** After a successful sign-in: clears the attempts that its address has used for the account. */
  async succeeded(account: { address: string; email: string }): Promise<void> {
    await this.#limits.succeeded(account);
  }
}

/** @throws {RequestRefusedError} */
function refuseFor(seconds: number, refusal = 'Too many attempts to sign in'): void {
  if (seconds > 0) throw retryIn(seconds, refusal);
}
