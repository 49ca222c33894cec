import type { SignedIn } from '../keys/accessControl.ts';
import type { Freshness, Moment } from '../keys/freshness.ts';
import { RowCache } from '../keys/rowCache.ts';
import type { SessionRepository } from './sessions.ts';
import { hashToken } from './tokens.ts';

/**
 * Answers session look-ups from memory while cached rows are valid. Only for a database that reports changes: signing
 * out must apply everywhere at once, and with a lease every sign-out would have to wait for it.
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
