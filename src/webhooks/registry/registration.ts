import type { Selectable } from 'kysely';
import type { SecretBox } from '../../control/secretBox.ts';
import type { Ticker } from '../../schema/market.ts';
import type { PushedTier } from '../../schema/opportunity.ts';
import type { PauseReason, PreviousSecretBox, WebhookState, WebhooksTable } from '../schemaWebhooks.ts';

/** A webhook as its owner sees it: without its secret. */
export interface Webhook {
  readonly webhookId: string;
  readonly userId: string;
  readonly url: string;
  readonly label: string;
  readonly tiers: readonly PushedTier[];
  /** Null: all. */
  readonly tickers: readonly Ticker[] | null;
  /** Since when a later added kind or ticker is wanted. */
  readonly filtersSinceMs: Readonly<Partial<Record<PushedTier | Ticker, number>>>;
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

export interface SigningWebhook extends Webhook {
  readonly secrets: Secrets;
}

export function toWebhook(row: Selectable<WebhooksTable>): Webhook {
  return {
    webhookId: row.webhook_id,
    userId: row.user_id,
    url: row.url,
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

export function toSigningWebhook(row: Selectable<WebhooksTable>, box: SecretBox): SigningWebhook {
  const { webhook_id: id, secret_box: current } = row;
  return {
    ...toWebhook(row),
    secrets: {
      current: box.open(current, id),
      previous: previousOf(row).map(({ box: previous, until_ms: untilMs }) => {
        return { secret: box.open(previous, id), untilMs };
      }),
    },
  };
}

/**
 * Whether a webhook wants an opportunity of this kind and ticker. It never receives one detected before it was wanted,
 * or while the webhook was paused.
 */
export function wants(
  webhook: Webhook,
  { tier, ticker, detectedMs }: { tier: PushedTier; ticker: Ticker; detectedMs: number },
): boolean {
  const { state, tiers, tickers, activeSinceMs, filtersSinceMs } = webhook;
  if (state !== 'active' || !tiers.includes(tier)) return false;
  if (tickers !== null && !tickers.includes(ticker)) return false;
  const sinceMs = Math.max(activeSinceMs, filtersSinceMs[tier] ?? 0, filtersSinceMs[ticker] ?? 0);
  return detectedMs >= sinceMs;
}
