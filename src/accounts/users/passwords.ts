import { hash, verify } from '@node-rs/argon2';
import { BusyError, InvalidInputError } from '../../runtime/errors.ts';
import { COMMON_PASSWORDS } from './commonPasswords.ts';

/** OWASP's first choice for argon2id: 19 MiB, two passes, one lane; about 20 ms of one core. */
const COST = { memoryCost: 19 * 1024, timeCost: 2, parallelism: 1 };
/** Passwords worked on at once. The thread pool has four threads, which also read files and compress answers. */
const MAX_AT_ONCE = 2;
/** Passwords that may wait for their turn: under a second of work. */
const MAX_WAITING = 40;
/** In characters. The upper bound keeps a password from being a way to send work. */
export const PASSWORD_MIN = 8;
export const PASSWORD_MAX = 256;
/** Made when the first password is chosen. */
let common: ReadonlySet<string> | null = null;

/** The two operations of argon2 used here, as the library names them. */
export type Argon2 = { hash: typeof hash; verify: typeof verify };

/**
 * Hashes and checks passwords, off the event loop and a bounded number at once.
 * A password is compared in Unicode's NFKC form: keyboards disagree about how to compose what looks the same.
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
   * The argon2id hash in PHC form, with a salt of its own.
   * @throws {BusyError} When too many wait already.
   */
  hash(password: string): Promise<string> {
    return this.#inTurn(() => this.#argon2.hash(password.normalize('NFKC'), COST));
  }

  /**
   * Whether the password is the one that was hashed.
   * @param passwordHash Null where there is none: the answer is no, and takes as long as any other, so that it does not
   *   tell who exists.
   * @throws {BusyError} When too many wait already.
   */
  async verify(passwordHash: string | null, password: string): Promise<boolean> {
    // Shared, and its own failure is each caller's; a rejected one must not be kept.
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
      // The place is handed on, not given back, so that nobody who comes now takes it from who waited.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

/**
 * A password a user may choose. As NIST SP 800-63B has it: a minimum length, nothing that is guessed first, and no rules
 * about kinds of characters.
 * @param email Of the user, normalised.
 * @throws {InvalidInputError} Saying why not.
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
