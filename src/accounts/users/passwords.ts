import { hash, verify } from '@node-rs/argon2';
import { BusyError, InvalidInputError } from '../../runtime/errors.ts';
import { COMMON_PASSWORDS } from './commonPasswords.ts';

/** OWASP's first recommendation for argon2id: 19 MiB, two passes, one lane; about 20 ms of one core. */
const COST = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };
/**
 * Passwords hashed at the same time. The thread pool has four threads, which also read files and compress responses.
 */
const MAX_AT_ONCE = 2;
/** Passwords that may wait: under a second of work. */
const MAX_WAITING = 40;
/** In characters. The upper limit bounds the work that a long password causes. */
export const PASSWORD_MIN = 8;
export const PASSWORD_MAX = 256;
/** Built when the first password is chosen. */
let common: ReadonlySet<string> | null = null;

/** The two argon2 operations used here, named as in the library. */
type Argon2 = { hash: typeof hash; verify: typeof verify };

/**
 * Hashes and verifies passwords off the event loop, a bounded number at a time. Passwords are compared in Unicode's
 * NFKC form, because keyboards compose identical-looking characters differently.
 */
export class Passwords {
  #running = 0;
  readonly #waiting: (() => void)[] = [];
  #nobody: Promise<string> | null = null;
  readonly #argon2: Argon2;

  constructor(argon2: Argon2 = { hash, verify }) {
    this.#argon2 = argon2;
  }

  /**
   * The argon2id hash in PHC form, with a random salt.
   * @throws {BusyError} If too many passwords already wait.
   */
  hash(password: string): Promise<string> {
    return this.#inTurn(() => this.#argon2.hash(password.normalize('NFKC'), COST));
  }

  /**
   * Whether the password matches the hash.
   * @param passwordHash Null for a user without a password: the result is false and takes as long as any other, so the
   * duration does not reveal which users exist.
   * @throws {BusyError} If too many passwords already wait.
   */
  async verify(passwordHash: string | null, password: string): Promise<boolean> {
    // The placeholder hash is shared. If creating it fails, each waiting caller gets the error, and it is not cached.
    this.#nobody ??= this.hash('').catch((error: unknown) => {
      this.#nobody = null;
      throw error;
    });
    const nobody = await this.#nobody;
    const against = passwordHash ?? nobody;
    const same = await this.#inTurn(() => this.#argon2.verify(against, password.normalize('NFKC')));
    return same && passwordHash !== null;
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= MAX_AT_ONCE) {
      if (this.#waiting.length >= MAX_WAITING) throw new BusyError('too many passwords are being checked');
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    } else {
      this.#running++;
    }
    try {
      return await work();
    } finally {
      // Passes the place directly to the next waiter, so a new caller cannot take it first.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

/**
 * Checks a password that a user chose. Follows NIST SP 800-63B: a minimum length, no commonly guessed passwords, and no
 * rules about kinds of characters.
 * @param email E-mail address of the user, normalised.
 * @throws {InvalidInputError} With the reason.
 */
export function checkPassword(password: string, email: string): string {
  const { length } = [...password];
  if (length < PASSWORD_MIN || length > PASSWORD_MAX) {
    throw new InvalidInputError(`a password has ${PASSWORD_MIN} to ${PASSWORD_MAX} characters`);
  }
  const folded = password.normalize('NFKC').toLowerCase();
  const [mailbox] = email.split('@', 1);
  if (folded === email || folded === mailbox) {
    throw new InvalidInputError('a password must not be your e-mail address or a part of it');
  }
  common ??= new Set(COMMON_PASSWORDS.split(' '));
  if (common.has(folded))
    throw new InvalidInputError('this is one of the commonest passwords; choose another');
  return password;
}
