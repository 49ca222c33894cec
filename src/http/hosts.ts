import { isIP } from 'node:net';
import { misdirected } from './refusal.ts';
import type { RequestCheck } from './requestChecks.ts';

/** Paths for probes and load balancers, answered for any name; they contain no user data. */
const ANSWER_ANY_HOST = new Set(['/livez', '/readyz', '/health', '/metrics']);

/**
 * Refuses requests for an unknown host name before any other check. A page of another site can make its own name
 * resolve to this machine, and a browser would then treat the service as that site (DNS rebinding). This is impossible
 * with an address or a loopback name.
 * @param names Names of this service, beside addresses and loopback names.
 */
export function knownHostsOnly(names: readonly string[]): RequestCheck {
  const known = new Set(names.map(plainName));
  // Most requests name the same host.
  let lastKnown = '';
  return ({ url, headers: { host } }) => {
    // Only HTTP/1.0 may omit the header, and no browser does.
    if (host === undefined || host === lastKnown) return;
    if (isKnown(host, known)) lastKnown = host;
    else if (!ANSWER_ANY_HOST.has(url.split('?', 1)[0] ?? '')) throw misdirected();
  };
}

function isKnown(host: string, known: ReadonlySet<string>): boolean {
  const [, address, text] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d{0,5})?$/.exec(host) ?? [];
  if (address !== undefined) return isIP(address) === 6;
  if (text === undefined) return false;
  const name = plainName(text);
  return isIP(name) === 4 || name === 'localhost' || name.endsWith('.localhost') || known.has(name);
}

/** The final dot of a fully qualified name is ignored. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '');
}
