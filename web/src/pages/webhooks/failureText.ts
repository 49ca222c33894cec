import type { WebhookDelivery } from '../../api/schema.ts';

type Attempt = WebhookDelivery['attempt_log'][number];

/** Why the request never reached the receiver or brought no reply, by the error that the service logs. */
const BY_ERROR: readonly (readonly [error: RegExp, text: string])[] = [
  [/ENOTFOUND|EAI_AGAIN|ENODATA|has no address/, 'The host name does not exist. Check the URL.'],
  [/ECONNREFUSED/, 'Nothing listens at this address and port. Check that the receiver runs.'],
  [/ECONNRESET|UND_ERR_SOCKET|EPIPE/, 'The receiver closed the connection before it answered.'],
  [
    /no whole reply within|TIMEOUT|ETIMEDOUT/,
    'No complete answer within 5 s. Answer first, then do the work.',
  ],
  [/EHOSTUNREACH|ENETUNREACH/, 'No route to this host. Check its network.'],
  [/CERT|SELF_SIGNED|UNABLE_TO|ERR_TLS/, 'The certificate is not valid for this host. Renew or correct it.'],
  [/EPROTO|SSL|ERR_SSL/, 'The receiver does not speak TLS at this port.'],
  [/secret cannot be decrypted/, 'The signing secret cannot be read any more. Replace the secret.'],
  [/^the (?:address|host) /, 'The URL leads to an address that webhooks may not use.'],
];

const BY_STATUS: Readonly<Record<number, string>> = {
  401: 'The receiver rejected the signature. Check the secret, and that it verifies the raw body.',
  403: 'The receiver forbids the request. Check its firewall and its signature check.',
  404: 'The receiver has no such path. Check the URL.',
  405: 'The receiver does not accept POST at this path.',
  410: 'The receiver answered that it is gone, so this delivery is not tried again.',
  413: 'The receiver refuses a body of this size.',
  429: 'The receiver asks for fewer requests.',
};

/** One sentence for a failed attempt, with what to check; null for a success. */
export function failureText({ error, status }: Pick<Attempt, 'error' | 'status'>): string | null {
  if (error === null) return null;
  if (status === null) {
    const known = BY_ERROR.find(([pattern]) => pattern.test(error));
    return known?.[1] ?? 'The request failed before the receiver answered.';
  }
  if (status >= 300 && status < 400)
    return 'The receiver redirects. Redirects are not followed: use the final URL.';
  if (status >= 500) return 'The receiver failed while it handled the request. See its log.';
  return BY_STATUS[status] ?? 'The receiver refused the request.';
}
