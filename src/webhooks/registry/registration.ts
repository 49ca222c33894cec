import type { Selectable } from 'kysely';
import type { SecretBox } from '../../control/secretBox.ts';
import type { Ticker } from '../../schema/market.ts';
import type { WebhookEventName, WebhookFormat } from '../../schema/notification.ts';
import type { PushedTier } from '../../schema/opportunity.ts';
import { type ChatTarget, parseChatTarget } from '../chat/chatTarget.ts';
import type { PauseReason, PreviousSecretBox, WebhookState, WebhooksTable } from '../schemaWebhooks.ts';

/** A webhook as its owner sees it: without its secrets. */
export interface Webhook {
  readonly webhookId: string;
  readonly userId: string;
  /** Of a chat: without its secret. */
  readonly url: string;
  readonly format: WebhookFormat;
  readonly events: readonly WebhookEventName[];
  readonly label: string;
  readonly tiers: readonly PushedTier[];
  /** Null: all. */
  readonly tickers: readonly Ticker[] | null;
  /** Since when a later added kind, ticker or event is wanted. */
  readonly filtersSinceMs: Readonly<Partial<Record<PushedTier | Ticker | WebhookEventName, number>>>;
  readonly state: WebhookState;
  readonly pauseReason: PauseReason | null;
  readonly pausedMs: number | null;
  readonly consecutiveFailures: number;
  readonly createdMs: number;
  readonly activeSinceMs: number;
  /** Until when the secret before the last rotation also signs; null: there is none. */
  readonly previousUntilMs: number | null;
}

/** The secrets that sign a webhook's deliveries. */
interface Secrets {
  /** Null if it cannot be decrypted: the key has changed since it was created. */
  readonly current: string | null;
  /** Earlier secrets, oldest first. */
  readonly previous: readonly PreviousSecret[];
}

interface PreviousSecret {
  /** Null if it cannot be decrypted. */
  readonly secret: string | null;
  /** Until when it still signs. */
  readonly untilMs: number;
}

/** A webhook as its sender needs it. */
export interface SigningWebhook extends Webhook {
  readonly secrets: Secrets;
  /** The whole URL; null if it cannot be decrypted. */
  readonly target: string | null;
  /** How to write to the chat at that URL; null: signed JSON is sent. */
  readonly chat: ChatTarget | null;
  /** Only an operator is sent events of the service. */
  readonly isOwnerOperator: boolean;
}

export function toWebhook(row: Selectable<WebhooksTable>): Webhook {
  return {
    webhookId: row.webhook_id,
    userId: row.user_id,
    url: row.url,
    format: row.format,
    events: JSON.parse(row.events),
    label: row.label,
    tiers: JSON.parse(row.tiers),
    tickers: row.tickers === null ? null : JSON.parse(row.tickers),
    filtersSinceMs: JSON.parse(row.filters_since),
    state: row.state,
    pauseReason: row.pause_reason,
    pausedMs: row.paused_ms,
    consecutiveFailures: row.consecutive_failures,
    createdMs: row.created_ms,
    activeSinceMs: row.active_since_ms,
    previousUntilMs: previousOf(row).at(-1)?.until_ms ?? null,
  };
}

/** The secrets before the last rotations, oldest first. */
export function previousOf(row: Pick<Selectable<WebhooksTable>, 'previous_secrets'>): PreviousSecretBox[] {
  return JSON.parse(row.previous_secrets);
}

export function toSigningWebhook(
  row: Selectable<WebhooksTable>,
  box: SecretBox,
  isOwnerOperator = false,
): SigningWebhook {
  const { webhook_id: id, secret_box: current, format, url, url_box: urlBox } = row;
  const target = urlBox === null ? url : box.open(urlBox, id);
  return {
    ...toWebhook(row),
    ...{ target, isOwnerOperator },
    chat: format === 'signed' || target === null ? null : parseChatTarget(format, new URL(target)),
    secrets: {
      current: box.open(current, id),
      previous: previousOf(row).map(({ box: previous, until_ms: untilMs }) => {
        return { secret: box.open(previous, id), untilMs };
      }),
    },
  };
}

/** What decides which webhooks get an event. Kind and ticker are those of an opportunity. */
interface EventFacts {
  readonly event: WebhookEventName;
  readonly tier: PushedTier | null;
  readonly ticker: Ticker | null;
  readonly detectedMs: number;
}

/** While the clock is behind the time since when an event is wanted, events up to this old are sent. */
const STEPPED_BACK_AGE_MAX_MS = 10_000;

/**
 * Whether a webhook wants an event. It never receives one detected before it was wanted, or while the webhook was
 * paused. Events of the service go to operators only.
 * @param nowMs The time now. A later registration, resumption or filter means that the clock was set back since.
 */
export function wants(
  webhook: Webhook & Pick<SigningWebhook, 'isOwnerOperator'>,
  { event, tier, ticker, detectedMs }: EventFacts,
  nowMs: number,
): boolean {
  const { state, events, tiers, tickers, activeSinceMs, filtersSinceMs } = webhook;
  if (state !== 'active' || !events.includes(event)) return false;
  if (event !== 'opportunity' && !webhook.isOwnerOperator) return false;
  if (tier !== null && !tiers.includes(tier)) return false;
  if (ticker !== null && tickers !== null && !tickers.includes(ticker)) return false;
  const named = [event, tier, ticker].map((name) => (name === null ? 0 : (filtersSinceMs[name] ?? 0)));
  const sinceMs = Math.max(activeSinceMs, ...named);
  return detectedMs >= (sinceMs > nowMs ? nowMs - STEPPED_BACK_AGE_MAX_MS : sinceMs);
}
