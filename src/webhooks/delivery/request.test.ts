import { describe, expect, it } from 'vitest';
import { DELIVERY } from '../../../test/support/deliveryQueues.ts';
import { opportunity } from '../../../test/support/opportunity.ts';
import type { SigningWebhook } from '../registry/registration.ts';
import type { Delivery } from './delivery.ts';
import { NO_SECRET, requestOf } from './request.ts';
import { shownHeaders } from './requestHeaders.ts';
import { signBody, signMessage } from './signature.ts';

const [CURRENT, FIRST, SECOND] = ['A', 'B', 'C'].map((letter) => `whsec_${letter.repeat(32)}`) as [
  string,
  string,
  string,
];
const NOW_MS = 1_795_219_200_999;
const TIMESTAMP = 1_795_219_200;
const COMMON = ['Content-Type', 'application/json', 'User-Agent', 'Service-Webhook/1'];
const LAG: Delivery = { ...DELIVERY, event: 'system.lag', tier: null, ticker: null };

const signing = (secrets: SigningWebhook['secrets']) => ({ chat: null, secrets }) as SigningWebhook;
const signatureOf = (secret: string) =>
  signMessage(secret, { id: 'dl_1', timestamp: TIMESTAMP, body: DELIVERY.body });

describe('a signed request', () => {
  it('names kind and asset of an opportunity, and has the second of its attempt', () => {
    const { headers, body } = requestOf(signing({ current: CURRENT, previous: [] }), DELIVERY, NOW_MS);
    expect(headers).toEqual([
      ...[...COMMON, 'X-SVC-Tier', 'logical', 'X-SVC-Ticker', 'BTC'],
      ...['webhook-id', 'dl_1', 'webhook-timestamp', String(TIMESTAMP)],
      ...['X-SVC-Signature', signBody(CURRENT, DELIVERY.body), 'webhook-signature', signatureOf(CURRENT)],
    ]);
    expect(body).toBe(DELIVERY.body);
  });

  it('names an event of the service instead', () => {
    const { headers } = requestOf(signing({ current: CURRENT, previous: [] }), LAG, NOW_MS);
    expect(headers.slice(4, 8)).toEqual(['X-SVC-Event', 'system.lag', 'webhook-id', 'dl_1']);
  });

  it('is signed by each earlier secret until the millisecond of its end, after the current one', () => {
    const previous = [
      { secret: FIRST, untilMs: NOW_MS },
      { secret: null, untilMs: NOW_MS + 1 },
      { secret: SECOND, untilMs: NOW_MS + 1 },
    ];
    const { headers } = requestOf(signing({ current: CURRENT, previous }), DELIVERY, NOW_MS);
    expect(headers.at(-1)).toBe(`${signatureOf(CURRENT)} ${signatureOf(SECOND)}`);
  });

  it('is not made without the current secret, even if an earlier one is known', () => {
    const previous = [{ secret: FIRST, untilMs: NOW_MS + 1 }];
    expect(() => requestOf(signing({ current: null, previous }), DELIVERY, NOW_MS)).toThrow(NO_SECRET);
  });
});

it('a request to a chat has no header but the common ones', () => {
  const chat = { format: 'slack', members: {} } as SigningWebhook['chat'];
  const webhook = { chat, secrets: { current: null, previous: [] } } as unknown as SigningWebhook;
  const body = Buffer.from(JSON.stringify(opportunity({ nowMs: 0 })));
  expect(requestOf(webhook, { ...DELIVERY, body }, NOW_MS).headers).toEqual(COMMON);
});

describe('the headers that the owner sees', () => {
  it('have every name of a signed request, and no value made from the secret', () => {
    const shown = shownHeaders(LAG, TIMESTAMP, 'signed');
    const { headers } = requestOf(signing({ current: CURRENT, previous: [] }), LAG, NOW_MS);
    const sent = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1]]] : []));
    expect(shown.slice(0, -2).map(({ name, value }) => [name, value])).toEqual(sent.slice(0, -2));
    expect(shown.slice(-2)).toEqual([
      { name: 'X-SVC-Signature', value: null },
      { name: 'webhook-signature', value: null },
    ]);
  });

  it('of a chat are the common ones', () => {
    expect(shownHeaders(DELIVERY, TIMESTAMP, 'discord')).toEqual([
      { name: 'Content-Type', value: 'application/json' },
      { name: 'User-Agent', value: 'Service-Webhook/1' },
    ]);
  });
});
