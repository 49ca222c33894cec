import ipaddr from 'ipaddr.js';
import { variableProblem } from '../../config.ts';
import { ConfigError } from '../../runtime/errors.ts';

/**
 * Networks that are not publicly reachable, or that belong to the operator of this machine.
 * @see https://www.iana.org/assignments/iana-ipv4-special-registry and .../iana-ipv6-special-registry, read 2026-11-21.
 */
const REFUSED_IPV4 = networks({
  'this network': ['0.0.0.0/8'],
  private: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'],
  'shared by carriers': ['100.64.0.0/10'],
  loopback: ['127.0.0.0/8'],
  'link-local': ['169.254.0.0/16'],
  // A public address by number, but every Azure machine reaches its host through it.
  'a metadata service': ['168.63.129.16/32'],
  reserved: ['192.0.0.0/24', '192.88.99.0/24', '240.0.0.0/4'],
  'for documentation': ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24'],
  'for benchmarks': ['198.18.0.0/15'],
  multicast: ['224.0.0.0/4'],
});
/** Within global unicast; any address outside it is refused anyway. */
const REFUSED_IPV6 = networks({
  'for documentation': ['2001:db8::/32', '3fff::/20'],
  reserved: ['2001::/23'],
});
const GLOBAL_IPV6 = network('2000::/3');
const NAMED_IPV6 = networks({
  loopback: ['::1/128'],
  unspecified: ['::/128'],
  'link-local': ['fe80::/10'],
  'site-local': ['fec0::/10'],
  private: ['fc00::/7', '64:ff9b:1::/48'],
  multicast: ['ff00::/8'],
});

/** IPv6 networks whose addresses embed IPv4 ones, and the byte at which each begins. Teredo's second is inverted. */
const CARRIERS = [
  { network: network('::ffff:0:0/96'), at: 12, inverted: false },
  { network: network('::ffff:0:0:0/96'), at: 12, inverted: false },
  { network: network('::/96'), at: 12, inverted: false },
  { network: network('64:ff9b::/96'), at: 12, inverted: false },
  { network: network('2002::/16'), at: 2, inverted: false },
  { network: network('2001::/32'), at: 4, inverted: false },
  { network: network('2001::/32'), at: 12, inverted: true },
] as const;
/** ISATAP puts an IPv4 address after this marker in any prefix. */
const ISATAP = [
  [0x00, 0x00, 0x5e, 0xfe],
  [0x02, 0x00, 0x5e, 0xfe],
] as const;

type Network = ReturnType<typeof ipaddr.parseCIDR>;
type Address = ReturnType<typeof ipaddr.parse>;

/** Decides which addresses webhooks may be sent to: public ones, and networks the operator allows. */
export class AddressPolicy {
  readonly #allowed: readonly Network[];

  /** @throws {ConfigError} If one of them is not a network in CIDR notation. */
  constructor(allowedNetworks: readonly string[]) {
    this.#allowed = allowedNetworks.map((text) => {
      if (!ipaddr.isValidCIDR(text.trim())) {
        const rule = 'must be networks in CIDR notation, separated by commas, such as 10.1.2.0/24';
        throw new ConfigError(variableProblem('UNDERROUND_WEBHOOK_ALLOWED_NETWORKS', text, rule));
      }
      return network(text.trim());
    });
  }

  /**
   * Why this address is refused; null: it is allowed.
   * @param text An IPv4 or IPv6 address; anything else is refused.
   */
  refusal(text: string): string | null {
    if (!isAddress(text)) return 'no address';
    return this.#refusalOf(ipaddr.parse(text));
  }

  /** Whether it is in a network that the operator allows. */
  isNamed(text: string): boolean {
    return isAddress(text) && this.#isAllowed(ipaddr.parse(text));
  }

  #refusalOf(address: Address): string | null {
    if (this.#isAllowed(address)) return null;
    const bytes = address.toByteArray();
    if (bytes.length === 4) return nameIn(REFUSED_IPV4, address);
    const named = nameIn(NAMED_IPV6, address);
    if (named !== null) return named;
    // An address that embeds an IPv4 address leads to that address.
    const carried = carriedAddresses(address, bytes);
    for (const inner of [...carried, ...isatapAddress(bytes)]) {
      const refusal = this.#refusalOf(inner);
      if (refusal !== null) return refusal;
    }
    if (carried.length > 0) return null;
    return matches(address, GLOBAL_IPV6) ? nameIn(REFUSED_IPV6, address) : 'not public';
  }

  #isAllowed(address: Address): boolean {
    return this.#allowed.some((allowed) => matches(address, allowed));
  }
}

/**
 * Whether the text is an address in its usual notation; `127.1` or `0x7f000001` are names until a URL parser reads
 * them.
 */
export function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || (text.includes(':') && ipaddr.IPv6.isValid(text));
}

function carriedAddresses(address: Address, bytes: readonly number[]): Address[] {
  return CARRIERS.filter(({ network }) => matches(address, network)).map(({ at, inverted }) =>
    ipaddr.fromByteArray(bytes.slice(at, at + 4).map((byte) => (inverted ? byte ^ 0xff : byte))),
  );
}

function isatapAddress(bytes: readonly number[]): Address[] {
  const isIsatap = ISATAP.some((marker) => marker.every((byte, i) => bytes[8 + i] === byte));
  return isIsatap ? [ipaddr.fromByteArray(bytes.slice(12))] : [];
}

function network(cidr: string): Network {
  return ipaddr.parseCIDR(cidr);
}

function networks(byName: Readonly<Record<string, readonly string[]>>) {
  return Object.entries(byName).flatMap(([name, cidrs]) =>
    cidrs.map((cidr) => ({ name, network: network(cidr) })),
  );
}

function nameIn(table: readonly { name: string; network: Network }[], address: Address): string | null {
  return table.find(({ network }) => matches(address, network))?.name ?? null;
}

function matches(address: Address, [base, bits]: Network): boolean {
  return address.kind() === base.kind() && address.match(base as never, bits);
}
