import { expect, it } from 'vitest';
import { failureText } from '../../web/src/pages/webhooks/failureText.ts';

it.each([
  ['ENOTFOUND', null, 'The host name does not exist. Check the URL.'],
  ['ECONNREFUSED', null, 'Nothing listens at this address and port. Check that the receiver runs.'],
  ['no whole reply within 5 s', null, 'No complete answer within 5 s. Answer first, then do the work.'],
  ['CERT_HAS_EXPIRED', null, 'The certificate is not valid for this host. Renew or correct it.'],
  ['the address 10.0.0.7 is private', null, 'The URL leads to an address that webhooks may not use.'],
  [
    'the signing secret cannot be decrypted; rotate it',
    null,
    'The signing secret cannot be read any more. Replace the secret.',
  ],
  ['UNHEARD_OF', null, 'The request failed before the receiver answered.'],
  [
    'status 301, redirects are not followed',
    301,
    'The receiver redirects. Redirects are not followed: use the final URL.',
  ],
  [
    'status 401',
    401,
    'The receiver rejected the signature. Check the secret, and that it verifies the raw body.',
  ],
  ['status 418', 418, 'The receiver refused the request.'],
  ['status 503', 503, 'The receiver failed while it handled the request. See its log.'],
  [null, 200, null],
])('an attempt with error %s and status %s', (error, status, text) => {
  expect(failureText({ error, status })).toBe(text);
});
