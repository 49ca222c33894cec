import type { FastifyRequest } from 'fastify';
import { forbidden } from './refusal.ts';

const CHANGES_NOTHING = new Set(['GET', 'HEAD', 'OPTIONS']);
/** Header values for pages of our own and for an address that the user typed. */
const OWN_SITE = new Set(['same-origin', 'none']);

/**
 * Refuses requests that a page of another site makes a browser send, because the browser would include the session
 * cookie. Browsers report the source of a request in `Sec-Fetch-Site`. Older ones, and browsers without TLS, report it
 * in `Origin` with every handshake and every request that changes something. A request with neither header is not from
 * a browser, so no other site's page caused it. A request that changes nothing is admitted, because other sites cannot
 * read its response. A WebSocket is not, because they could read its messages.
 * @throws {RequestRefusedError} 403.
 * @see https://pkg.go.dev/net/http#CrossOriginProtection, which uses the same rules.
 */
export function checkSameOrigin(
  { method, headers }: Pick<FastifyRequest, 'method' | 'headers'>,
  { isSocket = false }: { isSocket?: boolean | undefined } = {},
): void {
  if (CHANGES_NOTHING.has(method) && !isSocket) return;
  const { origin, host, 'sec-fetch-site': site } = headers;
  if (site === undefined && origin === undefined) return;
  const own = site === undefined ? isOwn(origin, host) : OWN_SITE.has(String(site));
  if (!own) throw forbidden('Cross-site request refused');
}

/** Compares name and port only: a proxy may have removed TLS, so the scheme is unreliable. */
function isOwn(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host.toLowerCase();
}
