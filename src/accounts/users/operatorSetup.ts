import { hash, timingSafeEqual } from 'node:crypto';
import type { RandomBytes } from '../../control/base62.ts';
import type { Database } from '../../control/schema.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createToken, hashToken } from './tokens.ts';
import type { UserRepository } from './users.ts';

/** A printed link is valid on the process that printed it, and for this long on every other one and after restarts. */
export const SETUP_LINK_LIFE_MS = 7 * 86_400_000;
/** Followed by the hash of the token: one setting a printed link. */
const SETTING = 'setup_link:';

interface SetupOptions {
  readonly users: Pick<UserRepository, 'hasOperator'>;
  readonly database: Database;
  readonly clock: Pick<Clock, 'now'>;
  readonly randomBytes: RandomBytes;
}

/**
 * Decides who may become a service's first operator: the visitor of a setup link that a process printed. Finding the
 * page first is not enough. The database has the hash of each printed token: behind a load balancer, the link of one
 * node works on every node. It admits only one operator.
 */
export class OperatorSetup {
  /** Token of this process's setup link; invalid once an operator exists. */
  readonly token: string;
  readonly #options: SetupOptions;
  #hasOperator = false;

  constructor(options: SetupOptions) {
    this.#options = options;
    this.token = createToken(options.randomBytes);
  }

  /** Once a service has an operator, it always has one. So the database is queried only until then. */
  async hasOperator(): Promise<boolean> {
    this.#hasOperator ||= await this.#options.users.hasOperator();
    return this.#hasOperator;
  }

  /** Whether this process or another one of this database has printed the token. */
  async accepts(token: string): Promise<boolean> {
    const isOwn = timingSafeEqual(hash('sha256', token, 'buffer'), hash('sha256', this.token, 'buffer'));
    if (isOwn) return true;
    const { database, clock } = this.#options;
    const printed = await database
      .selectFrom('settings')
      .select('name')
      .where('name', '=', settingOf(token))
      .where('updated_ms', '>', clock.now() - SETUP_LINK_LIFE_MS)
      .executeTakeFirst();
    return printed !== undefined;
  }

  /** URL of the page that makes its visitor the operator; null once one exists. @param baseUrl URL of the service. */
  async link(baseUrl: string): Promise<string | null> {
    const { database, clock } = this.#options;
    const nowMs = clock.now();
    const isOver = await this.hasOperator();
    await database
      .deleteFrom('settings')
      .where('name', 'like', `${SETTING}%`)
      .where('updated_ms', '<=', isOver ? nowMs : nowMs - SETUP_LINK_LIFE_MS)
      .execute();
    if (isOver) return null;
    await database
      .insertInto('settings')
      .values({ name: settingOf(this.token), value: 'null', updated_ms: nowMs })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ updated_ms: nowMs }))
      .execute();
    return `${baseUrl}/sign-up?setup=${this.token}`;
  }
}

function settingOf(token: string): string {
  return SETTING + hashToken(token);
}
