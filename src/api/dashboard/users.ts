import type { Accounts } from '../../accounts/accounts.ts';
import type { User } from '../../accounts/users/users.ts';
import { cutPage, decodeCursor } from '../../http/cursor.ts';
import { conflict, notFound } from '../../http/refusal.ts';
import { type Route, route } from '../../http/route.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import { userListShape, userShape } from '../../schema/api/accountResources.ts';
import { jsonBoolean, jsonLiteral, optionalMember } from '../../schema/api/body.ts';
import { optional, required } from '../../schema/api/fields.ts';
import { cursor, limit, offset } from '../../schema/api/parameters.ts';
import { literal, text } from '../../schema/api/types.ts';
import { TIERS } from '../../schema/tier.ts';
import { formatTime } from '../../schema/time.ts';
import { signedIn } from './signedIn.ts';

/** Longest part of an address that is searched for. */
const SEARCH_MAX = 254;
const USER_ID_TIE = /^usr_[\w-]{1,64}$/;

/** What an operator does about users. */
export function userRoutes(parts: { control: Pick<Accounts, 'users' | 'events' | 'settled'> }): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/users',
      auth: 'operator',
      access: { feature: null },
      summary: 'Users, oldest first',
      query: {
        limit: limit(100, 1000),
        offset,
        cursor,
        search: optional(
          text({ minLength: 1, maxLength: SEARCH_MAX }),
          'Only users whose e-mail address contains this, in any case',
        ),
      },
      response: userListShape,
      handle: async ({ query: { limit: most, offset: from, search, cursor: given } }) => {
        const { users } = parts.control;
        const scope = ['users', search];
        const place = decodeCursor(scope, given, USER_ID_TIE);
        const after = place && { createdMs: place.timeMs, userId: place.tie };
        const [found, total] = await Promise.all([
          users.page({ limit: most + 1, offset: from, search, after }),
          users.count(search),
        ]);
        const placeOf = ({ createdMs, userId }: User) => ({ timeMs: createdMs, tie: userId });
        const { page, next } = cutPage(found, most, { scope, placeOf });
        const body = {
          ...{ users: page.map(toJson), count: page.length, total },
          ...{ limit: most, offset: from, next_cursor: next },
        };
        return { body: JSON.stringify(body) };
      },
    }),
    route({
      method: 'PATCH',
      path: '/app/users/{user_id}',
      auth: 'operator',
      access: { feature: null },
      summary: 'Set a user’s tier, or start or end a suspension; omitted fields do not change',
      description: 'After this response a suspended user has no session and every server refuses their keys.',
      pathFields: { user_id: required(text(), '`user_id` from the list of users') },
      body: {
        tier: optionalMember(jsonLiteral(literal(TIERS)), 'Tier of the user and all their keys'),
        suspended: optionalMember(jsonBoolean, 'Whether the user is suspended'),
      },
      response: userShape,
      refusals: [409],
      handle: async (request) => {
        const { user_id: userId } = request.path;
        const { tier, suspended } = request.body;
        if (suspended === true && userId === signedIn(request).user.userId) {
          throw conflict('An operator cannot suspend themselves');
        }
        const change = { ...(tier === null ? {} : { tier }), ...(suspended === null ? {} : { suspended }) };
        const user = await parts.control.users.update({ userId }, change).catch((error: unknown) => {
          throw error instanceof InvalidInputError ? notFound('User not found') : error;
        });
        const done = {
          email: user.email,
          actor: signedIn(request).user.email,
          address: request.client.address,
        };
        if (tier !== null) await parts.control.events.record({ ...done, action: 'set_tier', detail: tier });
        if (suspended !== null) {
          await parts.control.events.record({ ...done, action: suspended ? 'suspend' : 'unsuspend' });
        }
        await parts.control.settled();
        return { body: JSON.stringify(toJson(user)) };
      },
    }),
  ];
}

function toJson(user: User) {
  const { userId, email, tier, operator, suspended, createdMs } = user;
  return { user_id: userId, email, tier, operator, suspended, created_at: formatTime(createdMs) };
}
