import type { Selectable } from 'kysely';
import { z } from 'zod';
import { InvalidInputError } from '../errors.ts';
import { DEFAULT_TIER, type Tier } from '../schema/tier.ts';
import { createId, type RowSources } from './ids.ts';
import type { Database, UsersTable } from './schema.ts';

export interface User {
  readonly userId: string;
  readonly email: string;
  readonly tier: Tier;
  readonly createdMs: number;
}

/** The longest address SMTP can deliver to (RFC 5321, 4.5.3.1.3 less the angle brackets). */
const MAX_EMAIL_LENGTH = 254;
const emailSchema = z.string().trim().toLowerCase().max(MAX_EMAIL_LENGTH).pipe(z.email());

/**
 * One spelling for each mailbox, so that a person has one account however the address is typed.
 * @throws {InvalidInputError} When it is no e-mail address.
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

  /** @throws {InvalidInputError} When the address is invalid or a user has it already. */
  async create(email: string, tier: Tier = DEFAULT_TIER): Promise<User> {
    const user = await this.#insert(normaliseEmail(email), tier);
    if (!user) throw new InvalidInputError('a user with this e-mail address exists already');
    return user;
  }

  /** The user of this address, made with the default tier where there is none. Safe when two ask at once. */
  async findOrCreate(email: string): Promise<User> {
    const address = normaliseEmail(email);
    const user = (await this.#insert(address, DEFAULT_TIER)) ?? (await this.find(address));
    if (!user) throw new InvalidInputError('the user was deleted meanwhile');
    return user;
  }

  /** @throws {InvalidInputError} When the address is invalid. */
  async find(email: string): Promise<User | null> {
    const row = await this.#db
      .selectFrom('users')
      .selectAll()
      .where('email', '=', normaliseEmail(email))
      .executeTakeFirst();
    return row ? toUser(row) : null;
  }

  /** @throws {InvalidInputError} When no user has this address. */
  async setTier(email: string, tier: Tier): Promise<User> {
    const row = await this.#db
      .updateTable('users')
      .set({ tier })
      .where('email', '=', normaliseEmail(email))
      .returningAll()
      .executeTakeFirst();
    if (!row) throw new InvalidInputError('no user with this e-mail address');
    return toUser(row);
  }

  /** All users, oldest first. */
  async list(): Promise<User[]> {
    const rows = await this.#db
      .selectFrom('users')
      .selectAll()
      .orderBy('created_ms')
      .orderBy('user_id')
      .execute();
    return rows.map(toUser);
  }

  async #insert(email: string, tier: Tier): Promise<User | null> {
    const { clock, randomBytes } = this.#sources;
    const row = await this.#db
      .insertInto('users')
      .values({ user_id: createId('usr', randomBytes), email, tier, created_ms: clock.now() })
      .onConflict((conflict) => conflict.column('email').doNothing())
      .returningAll()
      .executeTakeFirst();
    return row ? toUser(row) : null;
  }
}

function toUser(row: Selectable<UsersTable>): User {
  return { userId: row.user_id, email: row.email, tier: row.tier, createdMs: row.created_ms };
}
