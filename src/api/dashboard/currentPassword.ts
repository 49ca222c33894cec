import type { Accounts } from '../../accounts/accounts.ts';
import type { User } from '../../accounts/users/users.ts';

/**
 * Asks a signed-in user for the password once more: whoever has only the session does not know it.
 * @returns The hash of the current password; null if the given one is another, or the user has none.
 * @throws {BusyError} If too many passwords already wait.
 */
export async function provenPasswordHash(
  { users, passwords }: Pick<Accounts, 'users' | 'passwords'>,
  user: User,
  given: string,
): Promise<string | null> {
  const hash = (await users.findWithPassword(user))?.passwordHash ?? null;
  return (await passwords.verify(hash, given)) ? hash : null;
}
