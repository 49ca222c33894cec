import type { SignedIn } from '../keys/accessControl.ts';
import type { Freshness, Moment } from '../keys/freshness.ts';
import { RowCache } from '../keys/rowCache.ts';
import type { SessionRepository } from './sessions.ts';
import { hashToken } from './tokens.ts';

/**
 * Answers sessions from memory while what was read holds. Only for a database that tells when it changed: signing out is
 * over at once everywhere, and a lease would have everybody wait for it.
 */
export function rememberSessions(
  sessions: SessionRepository,
  freshness: Freshness,
): (token: string, moment: Moment) => SignedIn | null | Promise<SignedIn | null> {
  const read = new RowCache(freshness, (tokenHash) => sessions.read(tokenHash));
  return (token, moment) => {
    const known = read.get(hashToken(token), moment);
    return known instanceof Promise ? known.then((late) => sessions.use(late)) : sessions.use(known);
  };
}
