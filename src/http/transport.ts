import { readFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { createSecureContext } from 'node:tls';
import { withoutPort } from '../accounts/limits/limitsAddress.ts';
import { type Config, variableProblem } from '../config.ts';
import { ConfigError } from '../runtime/errors.ts';

/** How requests reach the service: TLS, trusted proxies and host names. */
export interface Transport {
  /** PEM texts; null: plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /**
   * Whether an address is trusted to report the address before it.
   * @param hop 0 for the address that connected, 1 for the one it reports, and so on.
   */
  readonly trustProxy: ((address: string, hop: number) => boolean) | null;
  /** Names by which the service is requested, beside addresses and loopback names. */
  readonly hosts: readonly string[];
}

export const PLAIN: Transport = { tls: null, trustProxy: null, hosts: [] };

const HOPS_MAX = 16;

/** @throws {ConfigError} If certificate and key cannot be used, or the list of proxies is invalid. */
export function loadTransport(
  config: Pick<Config, 'tlsCertFile' | 'tlsKeyFile' | 'trustProxy' | 'host' | 'publicHosts'>,
): Transport {
  return {
    tls: loadTls(config.tlsCertFile, config.tlsKeyFile),
    trustProxy: config.trustProxy === null ? null : parseTrust(config.trustProxy),
    // The operator chose the host name to listen on, and the `ready` line prints it.
    hosts: [...config.publicHosts, config.host],
  };
}

/** @throws {ConfigError} If one file is missing or unreadable, or the two do not belong together. */
export function loadTls(certFile: string | null, keyFile: string | null): Transport['tls'] {
  if (certFile === null && keyFile === null) return null;
  if (certFile === null || keyFile === null) {
    const set = certFile === null ? 'UNDERROUND_TLS_KEY' : 'UNDERROUND_TLS_CERT';
    const missing = certFile === null ? 'UNDERROUND_TLS_CERT' : 'UNDERROUND_TLS_KEY';
    throw new ConfigError(`${set} is set and ${missing} is not: set both, or neither for plain HTTP`);
  }
  const pair = {
    cert: readPem('UNDERROUND_TLS_CERT', certFile),
    key: readPem('UNDERROUND_TLS_KEY', keyFile),
  };
  try {
    createSecureContext(pair);
    return pair;
  } catch (cause) {
    const files = `UNDERROUND_TLS_CERT="${certFile}" and UNDERROUND_TLS_KEY="${keyFile}"`;
    const reason = (cause as Error).message;
    throw new ConfigError(
      `${files} must be a PEM certificate and its own key (${reason}); correct them, or unset both for plain HTTP`,
      { cause },
    );
  }
}

function readPem(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const rule = `must be a PEM file that can be read (${(cause as Error).message})`;
    throw new ConfigError(variableProblem(name, path, rule), { cause });
  }
}

/**
 * Parses addresses and networks, a number of hops, or both: `10.0.0.0/8, 127.0.0.1, 2`.
 * @throws {ConfigError} If the text has another form.
 */
export function parseTrust(text: string): NonNullable<Transport['trustProxy']> {
  const rule = `must be addresses, networks in CIDR notation and at most one number of hops (1 to ${HOPS_MAX}), separated by commas`;
  const refused = new ConfigError(variableProblem('UNDERROUND_TRUST_PROXY', text, rule));
  const list = new BlockList();
  let [addresses, hops] = [0, Number.POSITIVE_INFINITY];
  for (const item of text.split(',').map((part) => part.trim())) {
    if (/^\d{1,2}$/.test(item)) {
      if (hops !== Number.POSITIVE_INFINITY || Number(item) < 1 || Number(item) > HOPS_MAX) throw refused;
      hops = Number(item);
      continue;
    }
    const [address = '', bits, ...more] = item.split('/');
    const family = isIP(address);
    const most = family === 6 ? 128 : 32;
    if (family === 0 || more.length > 0 || !/^\d{1,3}$/.test(bits ?? '0') || Number(bits ?? 0) > most)
      throw refused;
    list.addSubnet(address, Number(bits ?? most), family === 6 ? 'ipv6' : 'ipv4');
    addresses++;
  }
  return (address, hop) => hop < hops && (addresses === 0 || isListed(list, address));
}

function isListed(list: BlockList, address: string): boolean {
  const plain = withoutPort(address).replace(/^::ffff:(?=\d+\.)/i, '');
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}
