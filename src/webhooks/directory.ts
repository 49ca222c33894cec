import type { Kysely } from 'kysely';
import type { Schema } from '../accounts/schema.ts';
import type { Clock } from '../clock.ts';
import { type SigningWebhook, toSigningWebhook } from './registration.ts';
import { readRevision } from './revision.ts';
import type { SecretBox } from './secretBox.ts';

/** Read again at least this often: a user who is suspended changes no registration. */
const AGE_MAX_MS = 5_000;

/** Every registration with its secrets, read again when any process changed one. */
export class WebhookDirectory {
  readonly #box: SecretBox;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #revision: string | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  #webhooks: readonly SigningWebhook[] = [];

  constructor(parts: { box: SecretBox; clock: Pick<Clock, 'monotonic'> }) {
    this.#box = parts.box;
    this.#clock = parts.clock;
  }

  /** As of this moment, or of the transaction that is given. A suspended user's count as paused. */
  async current(db: Kysely<Schema>): Promise<readonly SigningWebhook[]> {
    const revision = await readRevision(db);
    const now = this.#clock.monotonic();
    if (revision === this.#revision && now - this.#readAt < AGE_MAX_MS) return this.#webhooks;
    const rows = await db
      .selectFrom('webhooks')
      .innerJoin('users', 'users.user_id', 'webhooks.user_id')
      .selectAll('webhooks')
      .select('users.suspended_ms')
      .execute();
    this.#webhooks = rows.map(({ suspended_ms: suspended, ...row }) =>
      toSigningWebhook(suspended === null ? row : { ...row, state: 'paused' }, this.#box),
    );
    this.#revision = revision;
    this.#readAt = now;
    return this.#webhooks;
  }
}
