import { createHmac, randomBytes } from 'node:crypto';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { expect, test } from 'vitest';
import { createSecret, signBody, signMessage } from './signature.ts';

test('V32: the vector of the Standard Webhooks libraries', () => {
  const body = Buffer.from('{"test": 2432232314}');
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1614265330, body };
  expect(signMessage('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', message)).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  );
});

test('a secret is whsec_ and base64 of 24 random bytes', () => {
  const secret = createSecret((size) => new Uint8Array(size).fill(255));
  expect(secret).toBe('whsec_////////////////////////////////');
  expect(createSecret(randomBytes)).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  expect(createSecret(randomBytes)).not.toBe(createSecret(randomBytes));
});

test('X-SVC-Signature is plain HMAC over the raw bytes, keyed by the whole secret', () => {
  const secret = createSecret(randomBytes);
  const body = randomBytes(1000);
  const expected = createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex');
  expect(signBody(secret, body)).toBe(expected);
  expect(signBody(secret, Buffer.from('x'))).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  ['standardwebhooks', (secret: string) => new StandardWebhook(secret)],
  ['svix', (secret: string) => new SvixWebhook(secret)],
])('%s verifies a hundred bodies, and rejects changed ones', (_, verifier) => {
  for (let i = 0; i < 100; i++) {
    const secret = createSecret(randomBytes);
    const body = JSON.stringify({ n: i, text: `é${randomBytes(i).toString('hex')}` });
    const timestamp = Math.floor(Date.now() / 1000);
    const message = { id: `dl_${i}`, timestamp, body: Buffer.from(body) };
    const headers = {
      'webhook-id': message.id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signMessage(secret, message),
    };
    expect(verifier(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(() => verifier(secret).verify(`${body} `, headers)).toThrow(/No matching signature found/);
    const elsewhere = { ...headers, 'webhook-id': 'dl_other' };
    expect(() => verifier(secret).verify(body, elsewhere)).toThrow(/No matching signature found/);
  }
});
