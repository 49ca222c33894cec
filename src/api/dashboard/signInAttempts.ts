import type { RateLimits } from '../../accounts/limits/limits.ts';
import { SignInLimits } from '../../accounts/limits/signInLimits.ts';
import { tooManyRequests } from '../../http/refusal.ts';
import type { Clock } from '../../runtime/clock.ts';

/**
 * Limits attempts to sign in, to sign up and to enter a password or code. Each attempt is counted before it is checked.
 * With `UNDERROUND_RATE_LIMITS=off` none is refused.
 */
export class SignInAttempts {
  readonly #limits: SignInLimits;
  readonly #isOn: boolean;

  constructor({ clock, rateLimits }: { clock: Clock; rateLimits: RateLimits | null }) {
    this.#limits = new SignInLimits(clock);
    this.#isOn = rateLimits !== null;
  }

  /**
   * Counts a request of an address before its body is read. @throws {RequestRefusedError} 429 with the time to wait.
   */
  readonly beforeBody = (address: string): void => {
    this.#admit(() => this.#limits.addressAttempt(address));
  };

  /** Counts a password or code tried for an account. @throws {RequestRefusedError} 429 with the time to wait. */
  tryAccount(account: { address: string; email: string }): void {
    this.#admit(() => this.#limits.accountAttempt(account));
  }

  /** @throws {RequestRefusedError} 429 with the time to wait. */
  signUp(address: string): void {
    this.#admit(() => this.#limits.signUp(address), 'Too many sign-ups from this address');
  }

  /** After a successful sign-in: clears the attempts that its address has used for the account. */
  succeeded(account: { address: string; email: string }): void {
    this.#limits.succeeded(account);
  }

  #admit(waitSeconds: () => number, refusal = 'Too many attempts to sign in, retry later'): void {
    const seconds = this.#isOn ? waitSeconds() : 0;
    if (seconds > 0) throw tooManyRequests(refusal, seconds);
  }
}
