import type { Kysely, Selectable } from 'kysely';
import type { Schema } from '../../control/schema.ts';
import type { SecretBox } from '../../control/secretBox.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type SigningWebhook, toSigningWebhook, toWebhook } from '../registry/registration.ts';
import { webhooksRevision } from '../registry/revision.ts';
import type { WebhooksTable } from '../schemaWebhooks.ts';

/** The registrations are re-read at least this often: suspending a user changes no registration. */
const AGE_MAX_MS = 5_000;

type Row = Selectable<WebhooksTable>;

/** Every registration with its secrets, re-read after any process changed one. */
export class WebhookDirectory {
  readonly #box: SecretBox;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #revision: string | null = null;
  #readAt = Number.NEGATIVE_INFINITY;
  /** Numbers the calls, and the call whose rows are cached. */
  #asked = 0;
  #readFor = 0;
  #known = new Map<string, { row: Row; webhook: SigningWebhook }>();
  #webhooks: readonly SigningWebhook[] = [];

  constructor(parts: { box: SecretBox; clock: Pick<Clock, 'monotonic'> }) {
    this.#box = parts.box;
    this.#clock = parts.clock;
  }

  /** The registrations now, or in the given transaction. Those of a suspended user count as paused. */
  async current(db: Kysely<Schema>): Promise<readonly SigningWebhook[]> {
    const turn = ++this.#asked;
    const revision = await webhooksRevision.read(db);
    const now = this.#clock.monotonic();
    if (revision === this.#revision && now - this.#readAt < AGE_MAX_MS) return this.#webhooks;
    const rows = await db
      .selectFrom('webhooks')
      .innerJoin('users', 'users.user_id', 'webhooks.user_id')
      .selectAll('webhooks')
      .select(['users.suspended_ms', 'users.operator_ms'])
      .execute();
    // A later call has already read its rows; these may be older.
    if (turn < this.#readFor) return this.#webhooks;
    this.#readFor = turn;
    this.#known = new Map(
      rows.map(({ suspended_ms: suspended, operator_ms: operatorSince, ...registered }) => {
        const row: Row = suspended === null ? registered : { ...registered, state: 'paused' };
        return [row.webhook_id, { row, webhook: this.#toWebhook(row, operatorSince !== null) }];
      }),
    );
    this.#webhooks = [...this.#known.values()].map(({ webhook }) => webhook);
    this.#revision = revision;
    this.#readAt = now;
    return this.#webhooks;
  }

  /** Most changes concern another webhook: decrypting everyone's secrets again would delay the next event. */
  #toWebhook(row: Row, isOwnerOperator: boolean): SigningWebhook {
    const known = this.#known.get(row.webhook_id);
    // A rotation changes the current secret and the previous ones together.
    if (known?.row.secret_box !== row.secret_box) return toSigningWebhook(row, this.#box, isOwnerOperator);
    const { secrets, target, chat } = known.webhook;
    return { ...toWebhook(row), secrets, target, chat, isOwnerOperator };
  }
}
