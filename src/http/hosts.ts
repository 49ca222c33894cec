import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { misdirected } from './refusal.ts';

/** Asked by probes and balancers, by whatever name; they hold nothing of a user's. */
const ANSWER_ANY_HOST = new Set(['/livez', '/readyz', '/health', '/metrics']);

/**
 * Refuses requests for a host name that is not this service's, before anything else is decided about them. A page of
 * another site can have its own name resolve to this machine, and a browser would then take the service for that site
 * (DNS rebinding); it cannot do so with an address, nor with a loopback name.
 * @param names Of this service, beside addresses and loopback names.
 */
export function refuseUnknownHosts(app: FastifyInstance, names: readonly string[]): void {
  const known = new Set(names.map(plainName));
  app.addHook('onRequest', ({ url, headers: { host } }, _reply, done) => {
    // Only HTTP/1.0 may leave it out, and no browser does.
    if (host === undefined || isKnown(host, known)) return done();
    done(ANSWER_ANY_HOST.has(url.split('?', 1)[0] ?? '') ? undefined : misdirected());
  });
}

function isKnown(host: string, known: ReadonlySet<string>): boolean {
  const [, address, text] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{0,5})?$/.exec(host) ?? [];
  if (address !== undefined) return isIP(address) === 6;
  if (text === undefined) return false;
  const name = plainName(text);
  return isIP(name) === 4 || name === 'localhost' || name.endsWith('.localhost') || known.has(name);
}

/** The final dot of a fully qualified name changes nothing. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
