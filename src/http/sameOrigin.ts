import type { FastifyRequest } from 'fastify';
import { forbidden } from './refusal.ts';

const CHANGES_NOTHING = new Set(['GET', 'HEAD', 'OPTIONS']);
/** What browsers say of a page of our own, and of an address the user typed. */
const OWN_SITE = new Set(['same-origin', 'none']);

/**
 * Refuses what a page of another site makes a browser ask: the browser would send the session cookie along. Browsers
 * say where a request comes from in `Sec-Fetch-Site`, older ones and those without TLS in `Origin`, which each of them
 * sends with whatever changes something and with every handshake: what says neither is no browser, so nobody else's
 * page made it. A request that changes nothing is let through, because its answer is not readable elsewhere; a socket
 * is not, because what it brings is.
 * @throws {RequestRefusedError} 403.
 * @see https://pkg.go.dev/net/http#CrossOriginProtection, which decides alike.
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

/** A proxy may have taken TLS away, so the scheme says nothing; name and port must be the ones that were asked. */
function isOwn(origin: string | undefined, host: string | undefined): boolean {
  if (origin === undefined || host === undefined || !URL.canParse(origin)) return false;
  return new URL(origin).host === host.toLowerCase();
}
