import { type Selectable, sql } from 'kysely';
import { checkLabel } from '../../accounts/keys/keys.ts';
import { createId, type RowSources } from '../../control/ids.ts';
import type { Database } from '../../control/schema.ts';
import type { SecretBox } from '../../control/secretBox.ts';
import {
  InvalidInputError,
  OperatorOnlyError,
  TooManySecretsError,
  UnsignedWebhookError,
} from '../../runtime/errors.ts';
import type { FollowedAssets, Ticker } from '../../schema/market.ts';
import type { WebhookEventName, WebhookFormat } from '../../schema/notification.ts';
import type { PushedTier } from '../../schema/opportunity.ts';
import { parseChatTarget } from '../chat/chatTarget.ts';
import { eventsText, filtersSince, tickersText, tiersText } from '../delivery/filters.ts';
import { createSecret } from '../delivery/signature.ts';
import type { PreviousSecretBox, WebhooksTable } from '../schemaWebhooks.ts';
import { parseTarget, type TargetGuard } from '../target/target.ts';
import { previousOf, toWebhook, type Webhook } from './registration.ts';
import { webhooksRevision } from './revision.ts';
import { skipPending } from './skipPending.ts';

/** Webhooks that a user may have at once. */
export const MAX_WEBHOOKS_PER_USER = 20;
/** How long the secret before a rotation still signs. */
export const ROTATION_OVERLAP_MS = 86_400_000;
/** Earlier secrets that may sign at once. */
export const PREVIOUS_SECRETS_MAX = 5;

export interface NewWebhook {
  readonly userId: string;
  readonly url: string;
  readonly label: string;
  /** Null: all. */
  readonly tiers: readonly PushedTier[] | null;
  readonly tickers: readonly Ticker[] | null;
  /** Default: signed. */
  readonly format?: WebhookFormat;
  /** Default: opportunities. Only an operator may name others. */
  readonly events?: readonly WebhookEventName[];
}

/** Omitted fields stay unchanged; null means all, as at the registration. */
interface WebhookChange {
  readonly label?: string;
  readonly tiers?: readonly PushedTier[] | null;
  readonly tickers?: readonly Ticker[] | null;
  readonly events?: readonly WebhookEventName[];
}

/**
 * `secret` is the only plain-text copy there will ever be: show it, do not store it. It is null for a chat, whose
 * messages are not signed.
 */
interface IssuedWebhook {
  readonly secret: string | null;
  readonly webhook: Webhook;
}

/** Identifies a webhook: of one user, or of any user if `userId` is omitted (the operator's command line). */
export interface WebhookName {
  readonly webhookId: string;
  readonly userId?: string;
}

/** The owners' operations on their webhooks. A running sender applies each change before it sends the next event. */
export class WebhookRegistry {
  readonly #db: Database;
  readonly #sources: RowSources;
  readonly #guard: TargetGuard;
  readonly #box: SecretBox;
  readonly #tickers: readonly Ticker[];

  constructor(
    db: Database,
    parts: FollowedAssets & { sources: RowSources; guard: TargetGuard; box: SecretBox },
  ) {
    this.#db = db;
    this.#sources = parts.sources;
    this.#guard = parts.guard;
    this.#box = parts.box;
    this.#tickers = parts.tickers;
  }

  /**
   * Registers a webhook; null if the user already has the maximum. The caller has checked the tier.
   * @throws {InvalidInputError} If the URL is not allowed, or a member is invalid.
   * @throws {OperatorOnlyError} If the events are for operators, and the user is none.
   * @throws {TooManyLookupsError} If too many host names of the user are being looked up.
   */
  async create(wanted: NewWebhook): Promise<IssuedWebhook | null> {
    const label = checkLabel(wanted.label);
    const url = parseTarget(wanted.url);
    await this.#guard.checkRegistration(url, wanted.userId);
    const { format = 'signed', events = ['opportunity'] } = wanted;
    const chat = format === 'signed' ? null : parseChatTarget(format, url);
    const { clock, randomBytes } = this.#sources;
    const webhookId = createId('wh', randomBytes);
    const secret = createSecret(randomBytes);
    const nowMs = clock.now();
    const row = {
      webhook_id: webhookId,
      user_id: wanted.userId,
      url: chat?.shown ?? url.href,
      format,
      url_box: chat === null ? null : this.#box.seal(url.href, webhookId),
      events: eventsText(events),
      label,
      tiers: tiersText(wanted.tiers),
      tickers: tickersText(wanted.tickers, this.#tickers),
      filters_since: '{}',
      secret_box: this.#box.seal(secret, webhookId),
      previous_secrets: '[]',
      ...({ state: 'active', pause_reason: null, paused_ms: null, consecutive_failures: 0 } as const),
      ...{ created_ms: nowMs, active_since_ms: nowMs },
    };
    const stored = await this.#db.transaction().execute(async (db) => {
      // Locks the user's row, so that two concurrent requests do not both count before either has inserted its webhook.
      const owner = db.updateTable('users').set((users) => ({ tier: users.ref('tier') }));
      await owner.where('user_id', '=', wanted.userId).execute();
      await checkEvents(db, wanted.userId, events);
      const existing = await db
        .selectFrom('webhooks')
        .select((webhooks) => webhooks.fn.countAll<number>().as('count'))
        .where('user_id', '=', wanted.userId)
        .executeTakeFirstOrThrow();
      if (existing.count >= MAX_WEBHOOKS_PER_USER) return false;
      await db.insertInto('webhooks').values(row).execute();
      await webhooksRevision.change(db, this.#sources);
      return true;
    });
    return stored ? { secret: chat === null ? secret : null, webhook: toWebhook(row) } : null;
  }

  /** Oldest first; of one user if `userId` is given. */
  async list(filter: { userId?: string } = {}): Promise<Webhook[]> {
    const query = this.#db.selectFrom('webhooks').selectAll().orderBy('created_ms').orderBy('webhook_id');
    const { userId } = filter;
    const rows = await (userId === undefined ? query : query.where('user_id', '=', userId)).execute();
    return rows.map(toWebhook);
  }

  /** Null if there is none. */
  async find(name: WebhookName): Promise<Webhook | null> {
    const query = this.#db.selectFrom('webhooks').selectAll().where('webhook_id', '=', name.webhookId);
    const { userId } = name;
    const row = await (userId === undefined ? query : query.where('user_id', '=', userId)).executeTakeFirst();
    return row ? toWebhook(row) : null;
  }

  /**
   * An event that only the new filter admits is sent if it is detected from now on.
   * @throws {InvalidInputError} If there is no such webhook, or a member is invalid.
   * @throws {OperatorOnlyError} If the events are for operators, and the owner is none.
   */
  async update(name: WebhookName, change: WebhookChange): Promise<Webhook> {
    const { label, tiers, tickers, events } = change;
    // Checked first: an unknown name is refused as unknown, whether or not the user is an operator.
    const eventNames = events && eventsText(events);
    if (events !== undefined) await checkEvents(this.#db, (await this.#known(name)).userId, events);
    return await this.#set(name, (row) => {
      const filters = {
        tiers: tiers === undefined ? row.tiers : tiersText(tiers),
        tickers: tickers === undefined ? row.tickers : tickersText(tickers, this.#tickers),
        events: eventNames ?? row.events,
      };
      return {
        ...{ ...filters, filters_since: filtersSince(row, filters, this.#sources.clock.now()) },
        ...(label === undefined ? {} : { label: checkLabel(label) }),
      };
    });
  }

  /** Stops sending, and skips pending deliveries. Pausing again keeps reason and time. @throws {InvalidInputError} */
  async pause(name: WebhookName): Promise<Webhook> {
    const known = await this.#known(name);
    if (known.state === 'paused') return known;
    return await this.#set(name, () => ({
      ...({ state: 'paused', pause_reason: 'owner' } as const),
      paused_ms: this.#sources.clock.now(),
    }));
  }

  /** Sends events detected from now on, and resets the count of failures. @throws {InvalidInputError} */
  async resume(name: WebhookName): Promise<Webhook> {
    const known = await this.#known(name);
    if (known.state === 'active') return known;
    return await this.#set(name, () => ({
      ...({ state: 'active', pause_reason: null, paused_ms: null, consecutive_failures: 0 } as const),
      active_since_ms: this.#sources.clock.now(),
    }));
  }

  /**
   * Creates a new secret; each earlier one still signs until 24 hours after the rotation that replaced it.
   * @throws {TooManySecretsError} If the maximum number of earlier secrets still sign; nothing changes.
   * @throws {InvalidInputError} If there is no such webhook.
   * @throws {UnsignedWebhookError} If its messages are not signed.
   */
  async rotate(name: WebhookName): Promise<IssuedWebhook & { readonly secret: string }> {
    const { clock, randomBytes } = this.#sources;
    const secret = createSecret(randomBytes);
    const webhook = await this.#set(name, (row) => {
      if (row.format !== 'signed') throw new UnsignedWebhookError();
      const nowMs = clock.now();
      const valid = previousOf(row).filter(({ until_ms }) => nowMs < until_ms);
      const [oldest] = valid;
      if (oldest && valid.length >= PREVIOUS_SECRETS_MAX) {
        throw new TooManySecretsError(PREVIOUS_SECRETS_MAX, oldest.until_ms);
      }
      const previous = [...valid, { box: row.secret_box, until_ms: nowMs + ROTATION_OVERLAP_MS }];
      return {
        secret_box: this.#box.seal(secret, row.webhook_id),
        previous_secrets: JSON.stringify(previous satisfies PreviousSecretBox[]),
      };
    });
    return { secret, webhook };
  }

  /** Deletes it and its log. @throws {InvalidInputError} If there is no such webhook. */
  async delete(name: WebhookName): Promise<void> {
    const { webhookId } = await this.#known(name);
    await this.#db.transaction().execute(async (db) => {
      await lockWebhook(db, webhookId);
      // Its test events belong to no other webhook and are deleted with it; other events are deleted when they are old.
      const tests = db
        .selectFrom('webhook_deliveries')
        .select('event_id')
        .where('webhook_id', '=', webhookId);
      const ofTests = tests.where('is_test', '=', sql.lit(1));
      await db.deleteFrom('webhook_events').where('event_id', 'in', ofTests).execute();
      await db.deleteFrom('webhooks').where('webhook_id', '=', webhookId).execute();
      await webhooksRevision.change(db, this.#sources);
    });
  }

  async #known(name: WebhookName): Promise<Webhook> {
    const found = await this.find(name);
    if (found === null) throw unknownWebhook();
    return found;
  }

  /** @param changeOf Returns the change for the locked row. */
  async #set(name: WebhookName, changeOf: (row: Row) => ColumnChange): Promise<Webhook> {
    const { webhookId } = await this.#known(name);
    return await this.#db.transaction().execute(async (db) => {
      const before = await lockWebhook(db, webhookId);
      if (!before) throw unknownWebhook();
      const update = db.updateTable('webhooks').where('webhook_id', '=', webhookId).returningAll();
      const change = changeOf(before);
      const row = await update.set(change).executeTakeFirstOrThrow();
      // Also at a resumption: a process that had not seen the pause yet may have stored an event during it.
      if (change.state !== undefined) await skipPending(db, webhookId);
      await webhooksRevision.change(db, this.#sources);
      return toWebhook(row);
    });
  }
}

type Row = Selectable<WebhooksTable>;

/** Locks a webhook's row before those of its deliveries. An update locks the row, on either database. */
async function lockWebhook(db: Database, webhookId: string): Promise<Row | undefined> {
  return await db
    .updateTable('webhooks')
    .set((webhooks) => ({ webhook_id: webhooks.ref('webhook_id') }))
    .where('webhook_id', '=', webhookId)
    .returningAll()
    .executeTakeFirst();
}

interface ColumnChange {
  readonly label?: string;
  readonly tiers?: string;
  readonly tickers?: string | null;
  readonly events?: string;
  readonly filters_since?: string;
  readonly state?: 'active' | 'paused';
  readonly pause_reason?: 'owner' | null;
  readonly paused_ms?: number | null;
  readonly consecutive_failures?: number;
  readonly active_since_ms?: number;
  readonly secret_box?: string;
  readonly previous_secrets?: string;
}

/** @throws {OperatorOnlyError} */
async function checkEvents(db: Database, userId: string, events: readonly WebhookEventName[]): Promise<void> {
  if (events.every((event) => event === 'opportunity')) return;
  const user = db.selectFrom('users').select('operator_ms').where('user_id', '=', userId);
  if ((await user.executeTakeFirst())?.operator_ms != null) return;
  throw new OperatorOnlyError('only an operator is sent events of the service (system.*)');
}

/** The id is not echoed: a value pasted by mistake must not reach a log. */
function unknownWebhook(): InvalidInputError {
  return new InvalidInputError('no webhook with this id; `webhooks list` shows the ids');
}
