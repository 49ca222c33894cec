import type { Selectable } from 'kysely';
import { createId, type RowSources } from '../../control/ids.ts';
import type { Database } from '../../control/schema.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import type { Logger } from '../../runtime/log.ts';
import type { Tier } from '../../schema/tier.ts';
import type { ApiKeysTable } from '../schemaAccounts.ts';
import { type User, UserRepository } from '../users/users.ts';
import { createKey, hashKey, type KeyEnvironment, keyHint } from './keyFormat.ts';

/** Data about a key, without the key itself. */
export interface ApiKey {
  readonly keyId: string;
  readonly userId: string;
  /** First characters of the key, so its owner can distinguish keys. */
  readonly hint: string;
  readonly label: string;
  readonly createdMs: number;
  /** To the minute; null before the first use. */
  readonly lastUsedMs: number | null;
  /** Null while the key is live. */
  readonly revokedMs: number | null;
}

export interface OwnedApiKey extends ApiKey {
  readonly email: string;
  readonly tier: Tier;
}

/** `key` is the only copy of the full key: show it, never store it. */
export interface IssuedKey {
  readonly key: string;
  readonly record: ApiKey;
}

export const MAX_LABEL_LENGTH = 128;
/** Limit on a user's unrevoked keys from the dashboard; the operator's command line is not limited. */
export const MAX_LIVE_KEYS_PER_USER = 20;
/** Revoked keys kept of a user, the newest; older ones are deleted when the user creates or revokes a key. */
export const MAX_REVOKED_KEYS_PER_USER = 100;
/** Unrevoked keys in a user's list, the newest: the operator's command line may create any number. */
const MAX_LISTED_LIVE_KEYS = 1_000;
/** Keys deleted by one statement. More than one revocation adds, so the table shrinks to its limit. */
const MAX_DELETED_AT_ONCE = 200;

interface KeySources extends RowSources {
  /** Reports deleted keys; without one, none are deleted. */
  readonly logger?: Pick<Logger, 'info'>;
}

export class KeyRepository {
  readonly #db: Database;
  readonly #sources: KeySources;

  constructor(db: Database, sources: KeySources) {
    this.#db = db;
    this.#sources = sources;
  }

  /** @throws {InvalidInputError} If the label is empty, too long or has control characters. */
  async create(options: { userId: string; label: string; environment: KeyEnvironment }): Promise<IssuedKey> {
    const label = checkLabel(options.label);
    const { clock, randomBytes } = this.#sources;
    const key = createKey(options.environment, randomBytes);
    const row = await this.#db
      .insertInto('api_keys')
      .values({
        key_id: createId('key', randomBytes),
        user_id: options.userId,
        key_hash: hashKey(key),
        key_hint: keyHint(key),
        label,
        created_ms: clock.now(),
        last_used_ms: null,
        revoked_ms: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    return { key, record: toApiKey(row) };
  }

  /** Keys with their owners, including revoked ones, oldest first; only of one user if `userId` is given. */
  async list(filter: { userId?: string } = {}): Promise<OwnedApiKey[]> {
    let query = this.#db
      .selectFrom('api_keys')
      .innerJoin('users', 'users.user_id', 'api_keys.user_id')
      .selectAll('api_keys')
      .select(['users.email', 'users.tier'])
      .orderBy('api_keys.created_ms')
      .orderBy('api_keys.key_id');
    if (filter.userId !== undefined) query = query.where('api_keys.user_id', '=', filter.userId);
    const rows = await query.execute();
    return rows.map((row) => ({ ...toApiKey(row), email: row.email, tier: row.tier }));
  }

  /** A user's newest unrevoked and newest revoked keys, oldest first. */
  async listOwn(userId: string): Promise<ApiKey[]> {
    const own = this.#db.selectFrom('api_keys').selectAll().where('user_id', '=', userId);
    const live = own.where('revoked_ms', 'is', null).orderBy('created_ms', 'desc').orderBy('key_id', 'desc');
    const revoked = own.where('revoked_ms', 'is not', null).orderBy('revoked_ms', 'desc');
    const rows = await Promise.all([
      live.limit(MAX_LISTED_LIVE_KEYS).execute(),
      revoked.orderBy('key_id', 'desc').limit(MAX_REVOKED_KEYS_PER_USER).execute(),
    ]);
    const keys = rows.flat().map(toApiKey);
    return keys.sort((a, b) => a.createdMs - b.createdMs || (a.keyId < b.keyId ? -1 : 1));
  }

  /**
   * Once this resolves, no process admits a request with the key. Revoking again changes nothing and keeps the first
   * time.
   * @param owner Restricts the search to keys of this user, and deletes the user's oldest revoked keys beyond the
   * limit.
   * @throws {InvalidInputError} If there is no key with this id.
   */
  async revoke(keyId: string, owner: { userId?: string } = {}): Promise<ApiKey> {
    const { userId } = owner;
    const found = this.#db.selectFrom('api_keys').selectAll().where('key_id', '=', keyId);
    const row = await (userId === undefined ? found : found.where('user_id', '=', userId)).executeTakeFirst();
    // The text is not repeated: a full key passed by mistake must not reach a log.
    if (!row) throw new InvalidInputError('no key with this id; `keys list` shows the ids');
    if (row.revoked_ms !== null) return toApiKey(row);
    const revoked = await this.#db
      .updateTable('api_keys')
      .set((keys) => ({
        revoked_ms: keys.fn.coalesce('revoked_ms', keys.val(this.#sources.clock.now())),
      }))
      .where('key_id', '=', keyId)
      .returningAll()
      .executeTakeFirstOrThrow();
    if (userId !== undefined) await this.deleteOldRevoked(userId);
    return toApiKey(revoked);
  }

  /** Deletes a user's revoked keys beyond the newest, with their request counts, and logs their ids. */
  async deleteOldRevoked(userId: string): Promise<void> {
    const { logger } = this.#sources;
    if (!logger) return;
    const deleted = await this.#db
      .deleteFrom('api_keys')
      .where('key_id', 'in', (keys) =>
        keys
          .selectFrom('api_keys')
          .select('key_id')
          .where('user_id', '=', userId)
          .where('revoked_ms', 'is not', null)
          .orderBy('revoked_ms', 'desc')
          .orderBy('key_id', 'desc')
          .offset(MAX_REVOKED_KEYS_PER_USER)
          .limit(MAX_DELETED_AT_ONCE),
      )
      .returning(['key_id', 'created_ms', 'last_used_ms', 'revoked_ms'])
      .execute();
    if (deleted.length > 0) logger.info({ user_id: userId, keys: deleted }, 'keys.revoked_deleted');
  }
}

/**
 * Creates a key of the calling user, and deletes the user's oldest revoked keys beyond the limit; null if the user has the maximum number of live keys.
 * @throws {InvalidInputError} If the label is invalid.
 */
export async function issueOwnKey(
  db: Database,
  sources: KeySources,
  wanted: { userId: string; label: string; environment: KeyEnvironment },
): Promise<IssuedKey | null> {
  const issued = await db.transaction().execute(async (transaction) => {
    // Locks the user's row, so two concurrent requests cannot both count before either has created its key.
    const owner = transaction.updateTable('users').set((users) => ({ tier: users.ref('tier') }));
    await owner.where('user_id', '=', wanted.userId).execute();
    const live = await transaction
      .selectFrom('api_keys')
      .select((keys) => keys.fn.countAll<number>().as('count'))
      .where('user_id', '=', wanted.userId)
      .where('revoked_ms', 'is', null)
      .executeTakeFirstOrThrow();
    if (live.count >= MAX_LIVE_KEYS_PER_USER) return null;
    return await new KeyRepository(transaction, sources).create(wanted);
  });
  if (issued) await new KeyRepository(db, sources).deleteOldRevoked(wanted.userId);
  return issued;
}

/**
 * Runs the operator's `keys create` in one transaction: creates the user if needed, sets the tier if given, and creates
 * a key.
 * @throws {InvalidInputError} If the address or the label is invalid; then nothing is stored.
 */
export async function issueKey(
  db: Database,
  sources: RowSources,
  wanted: { email: string; tier: Tier | null; label: string; environment: KeyEnvironment },
): Promise<IssuedKey & { user: User }> {
  return await db.transaction().execute(async (transaction) => {
    const users = new UserRepository(transaction, sources);
    const found = await users.findOrCreate(wanted.email);
    const user = wanted.tier === null ? found : await users.setTier(found.email, wanted.tier);
    const keys = new KeyRepository(transaction, sources);
    const issued = await keys.create({
      userId: user.userId,
      label: wanted.label,
      environment: wanted.environment,
    });
    return { ...issued, user };
  });
}

/** The label in its stored form. @throws {InvalidInputError} If it is empty, too long or has control characters. */
export function checkLabel(text: string): string {
  const label = text.trim();
  if (label.length === 0 || label.length > MAX_LABEL_LENGTH || /\p{Cc}/u.test(label)) {
    throw new InvalidInputError(`a label has 1 to ${MAX_LABEL_LENGTH} characters and no control characters`);
  }
  return label;
}

function toApiKey(row: Selectable<ApiKeysTable>): ApiKey {
  return {
    keyId: row.key_id,
    userId: row.user_id,
    hint: row.key_hint,
    label: row.label,
    createdMs: row.created_ms,
    lastUsedMs: row.last_used_ms,
    revokedMs: row.revoked_ms,
  };
}
