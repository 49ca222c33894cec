import type { SignedIn } from '../../accounts/keys/accessControl.ts';

/** @throws {TypeError} On a route that requires no session, which is a defect of the program. */
export function signedIn({ session }: { session: SignedIn | null }): SignedIn {
  if (session === null) throw new TypeError('a route without a session has no user');
  return session;
}
