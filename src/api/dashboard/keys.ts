import type { Accounts } from '../../accounts/accounts.ts';
import { MAX_LIVE_KEYS_PER_USER, MAX_REVOKED_KEYS_PER_USER } from '../../accounts/keys/keys.ts';
import { forbidden, notFound } from '../../http/refusal.ts';
import { type Route, route } from '../../http/route.ts';
import type { Clock } from '../../runtime/clock.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import { newKeyShape, ownKeyListShape } from '../../schema/api/accountResources.ts';
import { required } from '../../schema/api/fields.ts';
import { text } from '../../schema/api/types.ts';
import { formatTime, formatTimeOrNull } from '../../schema/time.ts';
import { label } from './members.ts';
import { signedIn } from './signedIn.ts';

const DAY_MS = 86_400_000;
const USAGE_DAYS = 30;

interface KeyDependencies {
  readonly control: Pick<Accounts, 'keys' | 'usage' | 'issueOwnKey' | 'settled'>;
  readonly clock: Clock;
}

/** A user's own API keys. */
export function keyRoutes(parts: KeyDependencies): Route[] {
  return [
    route({
      method: 'GET',
      path: '/app/keys',
      auth: 'session',
      access: { feature: null },
      summary: `List the user’s keys, including the ${MAX_REVOKED_KEYS_PER_USER} revoked last, oldest first`,
      response: ownKeyListShape,
      handle: async (request) => {
        const { userId } = signedIn(request).user;
        const today = Math.floor(parts.clock.now() / DAY_MS) * DAY_MS;
        const [keys, requests] = await Promise.all([
          parts.control.keys.listOwn(userId),
          parts.control.usage.since(userId, today - (USAGE_DAYS - 1) * DAY_MS),
        ]);
        const shown = keys.map((key) => ({
          key_id: key.keyId,
          label: key.label,
          prefix: key.hint,
          created_at: formatTime(key.createdMs),
          last_used_at: formatTimeOrNull(key.lastUsedMs),
          revoked_at: formatTimeOrNull(key.revokedMs),
          requests_30d: requests.get(key.keyId) ?? 0,
        }));
        return { body: JSON.stringify({ keys: shown }) };
      },
    }),
    route({
      method: 'POST',
      path: '/app/keys',
      auth: 'session',
      access: { feature: null },
      summary: 'Create a key; only this response contains it',
      body: { label },
      success: 201,
      response: newKeyShape,
      handle: async (request) => {
        const { userId } = signedIn(request).user;
        const issued = await parts.control.issueOwnKey({ userId, label: request.body.label });
        if (!issued) throw forbidden(`At most ${MAX_LIVE_KEYS_PER_USER} keys at once; revoke one first`);
        const { key, record } = issued;
        const { keyId, hint, createdMs } = record;
        const shown = { key_id: keyId, label: record.label, key, prefix: hint };
        return { status: 201, body: JSON.stringify({ ...shown, created_at: formatTime(createdMs) }) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/app/keys/{key_id}',
      auth: 'session',
      access: { feature: null },
      summary: 'Revoke a key; after this response every server refuses it',
      pathFields: { key_id: required(text(), '`key_id` from the list of keys') },
      success: 204,
      response: null,
      handle: async (request) => {
        const { userId } = signedIn(request).user;
        await parts.control.keys.revoke(request.path.key_id, { userId }).catch((error: unknown) => {
          throw error instanceof InvalidInputError ? notFound('Key not found') : error;
        });
        await parts.control.settled();
        return { status: 204, body: '' };
      },
    }),
  ];
}
