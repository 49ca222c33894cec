import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { SignatureError } from './errors.ts';
import { verifyWebhook } from './webhook.ts';

const SECRET = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`;
const OLDER = `whsec_${Buffer.from('the secret before that one').toString('base64')}`;
const NOW_MS = Date.UTC(2026, 10, 20, 12);
const clock = { now: () => NOW_MS };
const body = JSON.stringify({ market_id: '0xaa', detected_at: 't', tier: 'logical', question: 'Ünïcode?' });

function signed(secret = SECRET, afterS = 0) {
  const id = 'msg_1';
  const at = new Date(NOW_MS + afterS * 1000);
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at.getTime() / 1000),
    'webhook-signature': new Webhook(secret).sign(id, at, body),
  };
}

describe('verifyWebhook', () => {
  it.each([
    ['text and plain headers', body, signed()],
    ['bytes and a Headers object', Buffer.from(body), new Headers(signed())],
    [
      'headers whose names are not in lower case',
      body,
      Object.fromEntries(
        Object.entries(signed()).map(([name, value]) => [name.replace('webhook', 'Webhook'), value]),
      ),
    ],
    [
      'one of several signatures',
      body,
      { ...signed(), 'webhook-signature': `v1,AAAA v2,x ${signed(OLDER)['webhook-signature']}` },
    ],
  ])('returns the event of %s', async (_what, given, headers) => {
    const verified = await verifyWebhook({ body: given, headers, secret: [SECRET, OLDER], clock });
    expect(verified).toEqual({ id: 'msg_1', event: JSON.parse(body) });
  });

  it.each([
    ['another body', { body: `${body} ` }, 'no signature of the request matches the secret'],
    ['another secret', { secret: OLDER }, 'no signature of the request matches the secret'],
    [
      'a signature that is no base64',
      { headers: { ...signed(), 'webhook-signature': 'v1,%%%' } },
      'no signature of the request matches the secret',
    ],
    [
      'an old request',
      { headers: signed(SECRET, -301) },
      'the request is more than 300 s old, or from the future',
    ],
    [
      'one of the future',
      { headers: signed(SECRET, 301) },
      'the request is more than 300 s old, or from the future',
    ],
    [
      'a faulty time',
      { headers: { ...signed(), 'webhook-timestamp': '12x' } },
      'webhook-timestamp must be Unix seconds',
    ],
    [
      'no signature',
      { headers: { ...signed(), 'webhook-signature': undefined } },
      'the request has no header webhook-signature',
    ],
  ])('refuses %s', async (_what, change, message) => {
    const request = { body, headers: signed(), secret: SECRET, clock, ...change };
    await expect(verifyWebhook(request)).rejects.toThrow(new SignatureError(message));
  });

  it('needs the secret of a webhook', async () => {
    const hmac = createHmac('sha256', 'x').digest('hex');
    await expect(verifyWebhook({ body, headers: signed(), secret: `%${hmac}`, clock })).rejects.toThrow(
      TypeError,
    );
  });
});
