import type { ExpressionBuilder, Selectable } from 'kysely';
import { z } from 'zod';
import { createId, type RowSources } from '../../control/ids.ts';
import type { Database, Schema } from '../../control/schema.ts';
import { InvalidInputError } from '../../runtime/errors.ts';
import { DEFAULT_TIER, type Tier } from '../../schema/tier.ts';
import type { UsersTable } from '../schemaAccounts.ts';

export interface User {
  readonly userId: string;
  readonly email: string;
  readonly tier: Tier;
  readonly createdMs: number;
  /** May administer the other users. */
  readonly operator: boolean;
  /** Their keys are refused, and they cannot sign in. */
  readonly suspended: boolean;
}

/** A user with the hash of their password; null: nobody can sign in as this user yet. */
export interface UserWithPassword extends User {
  readonly passwordHash: string | null;
}

/** Identifies a user: by address on the command line, by id in the API. */
type UserName = { readonly email: string } | { readonly userId: string };

interface UserPage {
  readonly limit: number;
  /** Ignored with `after`. */
  readonly offset: number;
  readonly search?: string | null;
  /** The last user of the previous page. */
  readonly after?: Pick<User, 'createdMs' | 'userId'> | null;
}

interface UserChange {
  readonly tier?: Tier;
  readonly suspended?: boolean;
}

/** The longest address that SMTP can deliver to (RFC 5321, 4.5.3.1.3, without the angle brackets). */
const MAX_EMAIL_LENGTH = 254;
/** The setting whose row exists once there is an operator. */
const FIRST_OPERATOR = 'first_operator';
/** The same rule as in browsers, because a single user may well be `me@localhost`. */
const address = z.email({ pattern: z.regexes.html5Email });
const emailSchema = z.string().trim().toLowerCase().max(MAX_EMAIL_LENGTH).pipe(address);

/**
 * One spelling per mailbox, so that a person has one account however the address is typed.
 * @throws {InvalidInputError} If the text is not an e-mail address.
 */
export function normaliseEmail(text: string): string {
  const parsed = emailSchema.safeParse(text);
  if (!parsed.success) throw new InvalidInputError('not a valid e-mail address');
  return parsed.data;
}

export class UserRepository {
  readonly #db: Database;
  readonly #sources: RowSources;

  constructor(db: Database, sources: RowSources) {
    this.#db = db;
    this.#sources = sources;
  }

  /** @throws {InvalidInputError} If the address is invalid or belongs to another user. */
  async create(email: string, tier: Tier = DEFAULT_TIER): Promise<User> {
    const user = await this.#insert(normaliseEmail(email), tier);
    if (!user) throw new InvalidInputError('a user with this e-mail address exists already');
    return user;
  }

  /** The user with this address, created with the default tier if needed. Safe for concurrent calls. */
  async findOrCreate(email: string): Promise<User> {
    const address = normaliseEmail(email);
    const user = (await this.#insert(address, DEFAULT_TIER)) ?? (await this.find(address));
    if (!user) throw new InvalidInputError('the user was deleted meanwhile');
    return user;
  }

  /**
   * Creates a user who signs up; null if the address is taken. Signing up never takes over a user created on the
   * command line.
   * @throws {InvalidInputError} If the address is invalid.
   */
  async signUp(email: string, passwordHash: string): Promise<User | null> {
    return await this.#insert(normaliseEmail(email), DEFAULT_TIER, passwordHash);
  }

  /**
   * Creates the user who becomes the operator, or returns why not. Of several concurrent calls, in any process, one
   * succeeds; the refused ones store nothing.
   * @throws {InvalidInputError} If the address is invalid.
   */
  async signUpOperator(
    email: string,
    passwordHash: string,
  ): Promise<User | 'email_taken' | 'operator_exists'> {
    const address = normaliseEmail(email);
    const nowMs = this.#sources.clock.now();
    return await this.#db.transaction().execute(async (transaction) => {
      // A second process waits here until the first commits, and then finds the row.
      const claim = await transaction
        .insertInto('settings')
        .values({ name: FIRST_OPERATOR, value: 'null', updated_ms: nowMs })
        .onConflict((conflict) => conflict.column('name').doNothing())
        .returning('name')
        .executeTakeFirst();
      if (!claim) return 'operator_exists';
      const users = new UserRepository(transaction, this.#sources);
      const user = await users.#insert(address, DEFAULT_TIER, passwordHash);
      if (!user) {
        await transaction.deleteFrom('settings').where('name', '=', FIRST_OPERATOR).execute();
        return 'email_taken';
      }
      await users.#appoint(user.userId);
      return { ...user, operator: true };
    });
  }

  /**
   * Makes an existing user the operator; replaces the current one.
   * @throws {InvalidInputError} If the user does not exist or is suspended.
   */
  async setOperator(email: string): Promise<User> {
    const user = await this.find(email);
    if (!user) throw unknownUser();
    if (user.suspended) throw new InvalidInputError('the user is suspended; `users unsuspend` first');
    await this.#db.transaction().execute(async (transaction) => {
      await new UserRepository(transaction, this.#sources).#appoint(user.userId);
    });
    return { ...user, operator: true };
  }

  /** Whether an operator exists. */
  async hasOperator(): Promise<boolean> {
    const operators = this.#db.selectFrom('users').select('user_id').where('operator_ms', 'is not', null);
    return (await operators.limit(1).executeTakeFirst()) !== undefined;
  }

  /** @throws {InvalidInputError} If the address is invalid. */
  async find(email: string): Promise<User | null> {
    const row = await this.#row({ email });
    return row ? toUser(row) : null;
  }

  /** @throws {InvalidInputError} If the address is invalid. */
  async findWithPassword(name: UserName): Promise<UserWithPassword | null> {
    const row = await this.#row(name);
    return row ? { ...toUser(row), passwordHash: row.password_hash } : null;
  }

  /** @throws {InvalidInputError} If no user has this address. */
  async setTier(email: string, tier: Tier): Promise<User> {
    return await this.update({ email }, { tier });
  }

  /**
   * Changes the given fields. A suspension ends the user's sessions, and their keys are refused while it lasts.
   * @throws {InvalidInputError} If the user does not exist.
   */
  async update(name: UserName, change: UserChange): Promise<User> {
    const { tier, suspended } = change;
    const known = await this.#row(name);
    if (!known) throw unknownUser();
    if (tier === undefined && suspended === undefined) return toUser(known);
    const nowMs = this.#sources.clock.now();
    const changed = async (db: Database) => {
      const row = await db
        .updateTable('users')
        // Sets only the given fields, so that concurrent changes both apply. Suspending again keeps the first time.
        .set((users) => ({
          ...(tier === undefined ? {} : { tier }),
          ...(suspended === undefined
            ? {}
            : { suspended_ms: suspended ? users.fn.coalesce('suspended_ms', users.val(nowMs)) : null }),
        }))
        .where('user_id', '=', known.user_id)
        .returningAll()
        .executeTakeFirst();
      if (!row) throw unknownUser();
      return toUser(row);
    };
    // A tier may be changed within a caller's transaction, which cannot contain another.
    if (!suspended) return await changed(this.#db);
    return await this.#db.transaction().execute(async (db) => {
      const user = await changed(db);
      await endSessions(db, user.userId);
      return user;
    });
  }

  /** Ends the user's sessions with the old password. @throws {InvalidInputError} If the user does not exist. */
  async setPassword(name: UserName, passwordHash: string): Promise<User> {
    const known = await this.#row(name);
    if (!known) throw unknownUser();
    return await this.#db.transaction().execute(async (db) => {
      const query = db.updateTable('users').set({ password_hash: passwordHash });
      await query.where('user_id', '=', known.user_id).execute();
      await endSessions(db, known.user_id);
      return toUser(known);
    });
  }

  /**
   * Changes a password that was verified, and ends the user's sessions. Of several concurrent changes one succeeds.
   * @param from The hash that the old password was verified against.
   * @returns False if the password has changed since; then nothing changes.
   */
  async replacePassword(userId: string, { from, to }: { from: string; to: string }): Promise<boolean> {
    return await this.#db.transaction().execute(async (db) => {
      const changed = await db
        .updateTable('users')
        .set({ password_hash: to })
        .where('user_id', '=', userId)
        .where('password_hash', '=', from)
        .returning('user_id')
        .executeTakeFirst();
      if (changed) await endSessions(db, userId);
      return changed !== undefined;
    });
  }

  /** All users, oldest first. */
  async list(): Promise<User[]> {
    return (await this.#oldestFirst().execute()).map(toUser);
  }

  /** A page of users, oldest first. @param search Part of the address, in any case; null: all users. */
  async page({ limit, offset, search = null, after = null }: UserPage): Promise<User[]> {
    const rows = this.#oldestFirst()
      .where((user) => containing(user, search))
      .limit(limit);
    const page =
      after === null
        ? rows.offset(offset)
        : rows.where((user) =>
            user(user.refTuple('created_ms', 'user_id'), '>', user.tuple(after.createdMs, after.userId)),
          );
    return (await page.execute()).map(toUser);
  }

  /** @param search As for `page`. */
  async count(search: string | null = null): Promise<number> {
    const query = this.#db
      .selectFrom('users')
      .select((users) => users.fn.countAll<number>().as('count'))
      .where((user) => containing(user, search));
    return (await query.executeTakeFirstOrThrow()).count;
  }

  #oldestFirst() {
    return this.#db.selectFrom('users').selectAll().orderBy('created_ms').orderBy('user_id');
  }

  async #row(name: UserName): Promise<Selectable<UsersTable> | undefined> {
    const query = this.#db.selectFrom('users').selectAll();
    return await ('email' in name
      ? query.where('email', '=', normaliseEmail(name.email))
      : query.where('user_id', '=', name.userId)
    ).executeTakeFirst();
  }

  /** Call inside a transaction. It writes the setting's row first, so concurrent calls wait for each other there. */
  async #appoint(userId: string): Promise<void> {
    const nowMs = this.#sources.clock.now();
    const row = { name: FIRST_OPERATOR, value: JSON.stringify(userId), updated_ms: nowMs };
    await this.#db
      .insertInto('settings')
      .values(row)
      .onConflict((conflict) => conflict.column('name').doUpdateSet(row))
      .execute();
    const before = this.#db.updateTable('users').set({ operator_ms: null });
    await before.where('operator_ms', 'is not', null).where('user_id', '!=', userId).execute();
    await this.#db
      .updateTable('users')
      .set((users) => ({ operator_ms: users.fn.coalesce('operator_ms', users.val(nowMs)) }))
      .where('user_id', '=', userId)
      .execute();
  }

  async #insert(email: string, tier: Tier, passwordHash: string | null = null): Promise<User | null> {
    const { clock, randomBytes } = this.#sources;
    const user_id = createId('usr', randomBytes);
    const row = await this.#db
      .insertInto('users')
      .values({ user_id, email, tier, created_ms: clock.now(), password_hash: passwordHash })
      .onConflict((conflict) => conflict.column('email').doNothing())
      .returningAll()
      .executeTakeFirst();
    return row ? toUser(row) : null;
  }
}

/** Call it in the transaction of the change that ends them: none of them may outlive it. */
async function endSessions(db: Database, userId: string): Promise<void> {
  await db.deleteFrom('sessions').where('user_id', '=', userId).execute();
}

/** Stored addresses are in lower case. Both databases have `replace`, which needs no escaping of `%` and `_`. */
function containing(user: ExpressionBuilder<Schema, 'users'>, search: string | null) {
  if (search === null) return user.lit(true);
  return user(
    'email',
    '!=',
    user.fn<string>('replace', ['email', user.val(search.toLowerCase()), user.val('')]),
  );
}

function unknownUser(): InvalidInputError {
  return new InvalidInputError('no user with this e-mail address');
}

/** Converts a user's row for code outside this folder, without the password hash. */
export function toUser(row: Omit<Selectable<UsersTable>, 'password_hash'>): User {
  return {
    userId: row.user_id,
    email: row.email,
    tier: row.tier,
    createdMs: row.created_ms,
    operator: row.operator_ms !== null,
    suspended: row.suspended_ms !== null,
  };
}
