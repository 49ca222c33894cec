import type { WebhookFormat } from '../../schema/notification.ts';
import type { Delivery } from './delivery.ts';

/** A header whose value was made from the secret and is not stored has null. */
interface ShownHeader {
  readonly name: string;
  readonly value: string | null;
}

type Header = readonly [name: string, value: string];
type Sent = Pick<Delivery, 'deliveryId' | 'event' | 'tier' | 'ticker'>;

/** Of every attempt, signed or to a chat. */
export const COMMON_HEADERS: readonly Header[] = [
  ['Content-Type', 'application/json'],
  ['User-Agent', 'Service-Webhook/1'],
];

/** The headers of one signed attempt that need no secret. @param timestamp Unix seconds of the attempt. */
export function openHeaders({ deliveryId, event, tier, ticker }: Sent, timestamp: number): Header[] {
  const kind: Header[] =
    tier === null || ticker === null
      ? [['X-SVC-Event', event]]
      : [
          ['X-SVC-Tier', tier],
          ['X-SVC-Ticker', ticker],
        ];
  return [...COMMON_HEADERS, ...kind, ['webhook-id', deliveryId], ['webhook-timestamp', String(timestamp)]];
}

/** The names of the headers that are signed with the secret. */
export const SIGNATURE_HEADERS = { body: 'X-SVC-Signature', message: 'webhook-signature' } as const;

/** All headers of an attempt, as its owner sees them later. @param format Of the webhook; chats get no signature. */
export function shownHeaders(sent: Sent, timestamp: number, format: WebhookFormat): ShownHeader[] {
  if (format !== 'signed') return COMMON_HEADERS.map(([name, value]) => ({ name, value }));
  return [
    ...openHeaders(sent, timestamp).map(([name, value]) => ({ name, value })),
    ...Object.values(SIGNATURE_HEADERS).map((name) => ({ name, value: null })),
  ];
}
