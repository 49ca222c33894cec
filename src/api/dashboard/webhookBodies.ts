import { checkLabel, MAX_LABEL_LENGTH } from '../../accounts/keys/keys.ts';
import {
  defaultMember,
  type JsonType,
  jsonLiteral,
  jsonText,
  type Member,
  optionalMember,
  requiredMember,
} from '../../schema/api/body.ts';
import { jsonList } from '../../schema/api/bodyParts.ts';
import { datetime } from '../../schema/api/datetime.ts';
import { literal } from '../../schema/api/types.ts';
import type { Ticker } from '../../schema/market.ts';
import {
  WEBHOOK_EVENTS,
  WEBHOOK_FORMATS,
  type WebhookEventName,
  type WebhookFormat,
} from '../../schema/notification.ts';
import { PUSHED_TIERS } from '../../schema/opportunity.ts';
import { formatTime, formatTimeOrNull } from '../../schema/time.ts';
import { shownHeaders } from '../../webhooks/delivery/requestHeaders.ts';
import type { LoggedDelivery } from '../../webhooks/registry/deliveryLog.ts';
import type { DeliverySummary, DeliveryWithBody } from '../../webhooks/registry/deliveryReports.ts';
import type { Webhook } from '../../webhooks/registry/registration.ts';
import { DELIVERY_FILTERS } from '../../webhooks/schemaWebhooks.ts';
import { checked } from './members.ts';

/** Characters of a reply, escaped for HTML, that a list of deliveries shows. */
export const LISTED_HEAD_LENGTH = 100;
const DEFAULT_LABEL = 'webhook';
const labelType = jsonText(
  checked({ type: 'string', minLength: 1, maxLength: MAX_LABEL_LENGTH }, checkLabel),
);
const tiersType = jsonList(jsonLiteral(literal(PUSHED_TIERS)), {
  minLength: 1,
  maxLength: PUSHED_TIERS.length,
});

const eventsType = jsonList(jsonLiteral(literal(WEBHOOK_EVENTS)), {
  minLength: 1,
  maxLength: WEBHOOK_EVENTS.length,
});
const DEFAULT_EVENTS: readonly WebhookEventName[] = ['opportunity'];

/** The registry checks it: a refusal repeats it, unless the format says that it is the secret of a chat. */
const url = requiredMember(
  jsonText({ schema: { type: 'string', format: 'uri', pattern: '^https://' }, parse: (text) => text }),
  'Target URL; https only, no private address. Of a chat: the URL that its service issued; it is not shown again',
);
const tiers = optionalMember(tiersType, 'Kinds of signals to send; null: both');
/** @param assets The followed ones. */
const tickersMember = (assets: readonly Ticker[]) =>
  optionalMember(
    jsonList(jsonLiteral(literal(assets)), { minLength: 1, maxLength: assets.length }),
    'Assets to send; null: all',
  );

/** @param assets The followed ones. */
export const newWebhookBody = (assets: readonly Ticker[]) => ({
  url,
  label: defaultMember(labelType, DEFAULT_LABEL, 'Purpose of the webhook'),
  tiers,
  tickers: tickersMember(assets),
  format: defaultMember(
    jsonLiteral(literal(WEBHOOK_FORMATS)),
    'signed',
    '`signed`: signed JSON; else a text for people in that chat',
  ),
  events: defaultMember(
    eventsType,
    DEFAULT_EVENTS,
    'What to send; faults of the service (`system.*`) for operators only',
  ),
});
/**
 * Omitted fields do not change.
 * @param assets The followed ones.
 */
export const webhookChangeBody = (assets: readonly Ticker[]) => ({
  label: unchanged(labelType, 'Purpose of the webhook'),
  tiers: unchanged(tiers.type, 'Kinds of signals to send; null: both'),
  tickers: unchanged(tickersMember(assets).type, 'Assets to send; null: all'),
  events: unchanged(eventsType, 'What to send; faults of the service (`system.*`) for operators only'),
});
export const redeliverBody = {
  start: optionalMember(jsonText(datetime), 'Only deliveries created at or after this'),
  end: optionalMember(jsonText(datetime), 'Only deliveries created before this'),
  state: optionalMember(
    jsonLiteral(literal(DELIVERY_FILTERS)),
    'Only deliveries in this state; `undelivered`: failed, skipped or expired',
  ),
};

function unchanged<T>(type: JsonType<T>, description: string): Member<T | undefined> {
  return { type, required: false, absent: undefined, description, secret: false };
}

export function toWebhookJson(webhook: Webhook) {
  return {
    webhook_id: webhook.webhookId,
    url: webhook.url,
    label: webhook.label,
    tiers: webhook.tiers,
    tickers: webhook.tickers,
    state: webhook.state,
    failing: webhook.pauseReason === 'failures',
    consecutive_failures: webhook.consecutiveFailures,
    created_at: formatTime(webhook.createdMs),
    paused_at: formatTimeOrNull(webhook.pausedMs),
    previous_secret_until: formatTimeOrNull(webhook.previousUntilMs),
    format: webhook.format,
    events: webhook.events,
  };
}

function toDeliveryJson(delivery: LoggedDelivery) {
  return {
    delivery_id: delivery.deliveryId,
    state: delivery.state,
    tier: delivery.tier,
    ticker: delivery.ticker,
    market_id: delivery.marketId,
    test: delivery.isTest,
    detected_at: delivery.detectedAt,
    created_at: formatTime(delivery.createdMs),
    expires_at: formatTime(delivery.expiresMs),
    attempts: delivery.attempts,
    next_attempt_at: delivery.state === 'pending' ? formatTime(delivery.dueMs) : null,
    attempt_log: delivery.log.map(({ at_ms, status, latency_ms, error, response_head }) => {
      return { at: formatTime(at_ms), status, latency_ms, error, response_head };
    }),
    event: delivery.event,
  };
}

/** A delivery in a list of up to a thousand, each with up to twenty replies. */
export function toListedDeliveryJson(delivery: LoggedDelivery) {
  const shown = toDeliveryJson(delivery);
  const attempt_log = shown.attempt_log.map((attempt) => {
    return { ...attempt, response_head: listedHead(attempt.response_head) };
  });
  return { ...shown, attempt_log };
}

/** Does not end within an escaped character. */
function listedHead(escaped: string): string {
  if (escaped.length <= LISTED_HEAD_LENGTH) return escaped;
  return escaped.slice(0, LISTED_HEAD_LENGTH).replace(/&[^;]*$/, '');
}

export function toDeliveryDetailJson({ delivery, body }: DeliveryWithBody, format: WebhookFormat) {
  const last = delivery.log.at(-1);
  const headers = last === undefined ? [] : shownHeaders(delivery, Math.floor(last.at_ms / 1000), format);
  return { ...toDeliveryJson(delivery), headers, payload: body };
}

export function toSummaryJson(summary: DeliverySummary) {
  const { delivered, undelivered } = summary;
  const ended = delivered + undelivered;
  return {
    ...{ since: formatTime(summary.sinceMs), delivered, undelivered },
    success_rate: ended === 0 ? null : Math.round((delivered / ended) * 1e4) / 1e4,
    latency_ms_median: summary.latencyMsMedian,
    latency_ms_p95: summary.latencyMsP95,
    failing_since: formatTimeOrNull(summary.failingSinceMs),
    undelivered_since_failing: summary.undeliveredSinceFailing,
  };
}
