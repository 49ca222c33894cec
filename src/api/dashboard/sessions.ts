import type { Accounts } from '../../accounts/accounts.ts';
import { notFound } from '../../http/refusal.ts';
import { type Route, route } from '../../http/route.ts';
import { sessionListShape } from '../../schema/api/accountResources.ts';
import { required } from '../../schema/api/fields.ts';
import { text } from '../../schema/api/types.ts';
import { formatTime } from '../../schema/time.ts';
import { signedIn } from './signedIn.ts';

/** Where a user is signed in. */
export function sessionRoutes(parts: { control: Pick<Accounts, 'sessions'> }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/sessions',
      auth: 'session',
      access: { feature: null, duringMaintenance: true },
      summary: 'List the user’s sessions, newest first',
      response: sessionListShape,
      handle: async (request) => {
        const { user, sessionId } = signedIn(request);
        const sessions = await parts.control.sessions.list(user.userId);
        const shown = sessions.map((session) => ({
          session_id: session.sessionId,
          created_at: formatTime(session.createdMs),
          last_seen_at: formatTime(session.lastSeenMs),
          expires_at: formatTime(session.expiresMs),
          user_agent: session.userAgent,
          address: session.address,
          current: session.sessionId === sessionId,
        }));
        return { body: JSON.stringify({ sessions: shown }) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/app/sessions/{session_id}',
      auth: 'session',
      access: { feature: null, duringMaintenance: true },
      summary: 'End one of the user’s sessions',
      pathFields: { session_id: required(text(), '`session_id` from the list of sessions') },
      success: 204,
      response: null,
      handle: async (request) => {
        const ended = await parts.control.sessions.end(
          signedIn(request).user.userId,
          request.path.session_id,
        );
        if (!ended) throw notFound('Session not found');
        return { status: 204, body: '' };
      },
    }),
  ];
}
