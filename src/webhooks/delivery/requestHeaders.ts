import type { Delivery } from './delivery.ts';

/** A header whose value was made from the secret and is not stored has null. */
export interface ShownHeader {
  readonly name: string;
  readonly value: string | null;
}

type Sent = Pick<Delivery, 'deliveryId' | 'tier' | 'ticker'>;

/** The headers of one attempt that need no secret. @param timestamp Unix seconds of the attempt. */
export function openHeaders({ deliveryId, tier, ticker }: Sent, timestamp: number) {
  return [
    ['Content-Type', 'application/json'],
    ['User-Agent', 'Service-Webhook/1'],
    ['X-SVC-Tier', tier],
    ['X-SVC-Ticker', ticker],
    ['webhook-id', deliveryId],
    ['webhook-timestamp', String(timestamp)],
  ] as const;
}

/** The names of the headers that are signed with the secret. */
export const SIGNATURE_HEADERS = { body: 'X-SVC-Signature', message: 'webhook-signature' } as const;

/** All headers of an attempt, as its owner sees them later. */
export function shownHeaders(sent: Sent, timestamp: number): ShownHeader[] {
  return [
    ...openHeaders(sent, timestamp).map(([name, value]) => ({ name, value })),
    ...Object.values(SIGNATURE_HEADERS).map((name) => ({ name, value: null })),
  ];
}
