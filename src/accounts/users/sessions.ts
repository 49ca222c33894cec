import type { Selectable } from 'kysely';
import { createId, type RowSources } from '../../control/ids.ts';
import type { Database } from '../../control/schema.ts';
import type { Logger } from '../../runtime/log.ts';
import type { SignedIn } from '../keys/accessControl.ts';
import type { SessionsTable } from '../schemaAccounts.ts';
import { createToken, hashToken } from './tokens.ts';
import { toUser } from './users.ts';

/** A session expires after this long without use. */
export const SESSION_IDLE_MS = 7 * 86_400_000;
/** A session expires this long after its sign-in, however much it is used. */
export const SESSION_LIFE_MS = 30 * 86_400_000;
/** Maximum number of sessions per user; a further one ends the least recently used. */
export const MAX_SESSIONS_PER_USER = 20;
/** Resolution of the last use: a busy page costs one write a minute. */
const SEEN_STEP_MS = 60_000;
/** Long enough to identify a browser and its system. */
const USER_AGENT_MAX = 200;

interface Session {
  readonly sessionId: string;
  readonly userId: string;
  readonly createdMs: number;
  /** Resolution: one minute. */
  readonly lastSeenMs: number;
  /** When the session expires unless it is used again; never after its maximum life. */
  readonly expiresMs: number;
  readonly userAgent: string;
  readonly address: string;
}

/** `token` is the only copy: it goes into the cookie and nowhere else. */
interface IssuedSession {
  readonly token: string;
  readonly session: Session;
}

/** A session as stored. */
interface StoredSession {
  readonly lastSeenMs: number;
  readonly expiresMs: number;
  readonly isSuspended: boolean;
  readonly signedIn: SignedIn;
}

interface SessionSources extends RowSources {
  /** Reports uses that could not be recorded. */
  readonly logger?: Pick<Logger, 'warn'>;
}

/**
 * Sessions of signed-in browsers. Only the SHA-256 of a token is stored: 256 random bits need no salt and no slow hash.
 */
export class SessionRepository {
  readonly #db: Database;
  readonly #sources: SessionSources;

  constructor(db: Database, sources: SessionSources) {
    this.#db = db;
    this.#sources = sources;
  }

  /** Creates a session, and deletes the user's expired and surplus ones. */
  async create(owner: { userId: string; userAgent: string; address: string }): Promise<IssuedSession> {
    const { clock, randomBytes } = this.#sources;
    const nowMs = clock.now();
    const token = createToken(randomBytes);
    const row: SessionsTable = {
      session_id: createId('ses', randomBytes),
      user_id: owner.userId,
      token_hash: hashToken(token),
      created_ms: nowMs,
      last_seen_ms: nowMs,
      user_agent: printable(owner.userAgent).slice(0, USER_AGENT_MAX),
      address: owner.address,
    };
    await this.#db.insertInto('sessions').values(row).execute();
    await this.#clear(row, nowMs);
    return { token, session: toSession(row) };
  }

  /**
   * Like `create`, for a user whose password was verified; null if the password has changed since, or the user was
   * suspended. Both end all sessions, and must not miss one whose sign-in began before them.
   * @param owner.passwordHash The hash that the password was verified against.
   */
  async signIn(
    owner: Parameters<SessionRepository['create']>[0] & { passwordHash: string },
  ): Promise<IssuedSession | null> {
    return await this.#db.transaction().execute(async (transaction) => {
      // Locks the user's row until the session is stored: a concurrent change waits, and then finds the session.
      const unchanged = await transaction
        .updateTable('users')
        .set((users) => ({ tier: users.ref('tier') }))
        .where('user_id', '=', owner.userId)
        .where('password_hash', '=', owner.passwordHash)
        .where('suspended_ms', 'is', null)
        .returning('user_id')
        .executeTakeFirst();
      return unchanged ? await new SessionRepository(transaction, this.#sources).create(owner) : null;
    });
  }

  /**
   * The session of a cookie and its user; null if it is unknown or expired, or if its user is suspended. Records the
   * use, if it can be written.
   */
  async find(token: string): Promise<SignedIn | null> {
    return await this.use(await this.read(hashToken(token)));
  }

  /** The session of a token's hash, even if expired; null if there is none. */
  async read(tokenHash: string): Promise<StoredSession | null> {
    const row = await this.#db
      .selectFrom('sessions')
      .innerJoin('users', 'users.user_id', 'sessions.user_id')
      .select(['session_id', 'sessions.user_id', 'token_hash', 'last_seen_ms', 'user_agent', 'address'])
      .select(['sessions.created_ms as begun_ms', 'users.created_ms', 'email', 'tier'])
      .select(['operator_ms', 'suspended_ms'])
      .where('token_hash', '=', tokenHash)
      .executeTakeFirst();
    if (!row) return null;
    const { sessionId, lastSeenMs, expiresMs } = toSession({ ...row, created_ms: row.begun_ms });
    const isSuspended = row.suspended_ms !== null;
    return { lastSeenMs, expiresMs, isSuspended, signedIn: { sessionId, user: toUser(row) } };
  }

  /** Validates a session that was read, like `find`. Synchronous unless something must be written. */
  use(stored: StoredSession | null): SignedIn | null | Promise<SignedIn | null> {
    if (stored === null || stored.isSuspended) return null;
    const { lastSeenMs, expiresMs, signedIn } = stored;
    const nowMs = this.#sources.clock.now();
    if (nowMs >= expiresMs) return this.#forget(signedIn.sessionId);
    return nowMs - lastSeenMs >= SEEN_STEP_MS ? this.#note(signedIn, nowMs) : signedIn;
  }

  async #forget(sessionId: string): Promise<null> {
    const query = this.#db.deleteFrom('sessions').where('session_id', '=', sessionId);
    await query.execute().catch((error: unknown) => this.#unwritten(error));
    return null;
  }

  async #note(signedIn: SignedIn, nowMs: number): Promise<SignedIn> {
    const query = this.#db.updateTable('sessions').set({ last_seen_ms: nowMs });
    const written = query.where('session_id', '=', signedIn.sessionId).execute();
    await written.catch((error: unknown) => this.#unwritten(error));
    return signedIn;
  }

  /** On a full disk the dashboard must still be readable. The next request tries again. */
  #unwritten(error: unknown): void {
    this.#sources.logger?.warn({ err: error }, 'sessions.write_failed');
  }

  /** A user's unexpired sessions, newest first. */
  async list(userId: string): Promise<Session[]> {
    const rows = await this.#db
      .selectFrom('sessions')
      .selectAll()
      .where('user_id', '=', userId)
      .orderBy('created_ms', 'desc')
      .orderBy('session_id')
      .execute();
    const nowMs = this.#sources.clock.now();
    return rows.map(toSession).filter((session) => nowMs < session.expiresMs);
  }

  /** Network addresses at which the user with this e-mail address signed in, of the unexpired sessions. */
  async addresses(email: string): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('sessions')
      .innerJoin('users', 'users.user_id', 'sessions.user_id')
      .select(['address', 'sessions.created_ms', 'last_seen_ms'])
      .where('email', '=', email)
      .execute();
    const nowMs = this.#sources.clock.now();
    return rows.filter((row) => nowMs < sessionExpiresMs(row)).map(({ address }) => address);
  }

  /** Ends one of the user's sessions; false if the user has none with this id. */
  async end(userId: string, sessionId: string): Promise<boolean> {
    const ended = await this.#db
      .deleteFrom('sessions')
      .where('user_id', '=', userId)
      .where('session_id', '=', sessionId)
      .returning('session_id')
      .executeTakeFirst();
    return ended !== undefined;
  }

  async #clear({ user_id, session_id }: SessionsTable, nowMs: number): Promise<void> {
    const kept = this.#db
      .selectFrom('sessions')
      .select('session_id')
      .where('user_id', '=', user_id)
      .where('session_id', '!=', session_id)
      .orderBy('last_seen_ms', 'desc')
      .limit(MAX_SESSIONS_PER_USER - 1);
    await this.#db
      .deleteFrom('sessions')
      .where('user_id', '=', user_id)
      .where('session_id', '!=', session_id)
      .where((session) =>
        session.or([
          session('last_seen_ms', '<=', nowMs - SESSION_IDLE_MS),
          session('created_ms', '<=', nowMs - SESSION_LIFE_MS),
          session('session_id', 'not in', kept),
        ]),
      )
      .execute();
  }
}

/** Removes everything but printable ASCII, because the client controls the header. */
function printable(text: string): string {
  return text.replaceAll(/\P{ASCII}|\p{Cc}/gu, '');
}

/** When a session expires unless it is used again. */
export function sessionExpiresMs(row: Pick<SessionsTable, 'created_ms' | 'last_seen_ms'>): number {
  return Math.min(row.last_seen_ms + SESSION_IDLE_MS, row.created_ms + SESSION_LIFE_MS);
}

function toSession(row: Omit<Selectable<SessionsTable>, 'token_hash'>): Session {
  return {
    sessionId: row.session_id,
    userId: row.user_id,
    createdMs: row.created_ms,
    lastSeenMs: row.last_seen_ms,
    expiresMs: sessionExpiresMs(row),
    userAgent: row.user_agent,
    address: row.address,
  };
}
