import { isIPv6 } from 'node:net';

const HEXTETS = 8;
/** An IPv6 customer usually controls at least a /64. */
const GROUP_HEXTETS = 4;

/** Some proxies report the client's port too (`192.0.2.1:5000`, `[2001:db8::1]:5000`): each connection has another. */
export function withoutPort(address: string): string {
  const [, v6, v4] = /^(?:\[([^\]]*)\](?::\d{1,5})?|(\d+\.\d+\.\d+\.\d+):\d{1,5})$/.exec(address) ?? [];
  return v6 ?? v4 ?? address;
}

/** Groups addresses of one client: an IPv4 address itself, or the /64 of an IPv6 address. */
export function addressGroup(reported: string): string {
  const address = withoutPort(reported);
  if (!isIPv6(address)) return address;
  const plain = address.split('%', 1)[0] as string;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = plain.toLowerCase().split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : HEXTETS - before.length - after.length;
  const all = [...before, ...new Array<string>(Math.max(0, zeros)).fill('0'), ...after];
  return `${all
    .slice(0, GROUP_HEXTETS)
    .map((part) => part.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`;
}
