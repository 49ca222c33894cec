/** Networks that no webhook may reach, and the ways to write one of their addresses in a URL. */
import ipaddr from 'ipaddr.js';

/** An address of each range that is not global, from the IANA registries of special-purpose addresses (IPv4, IPv6). */
export const PRIVATE_IPV4: readonly (readonly [network: string, address: string])[] = [
  ['0.0.0.0/8', '0.1.2.3'],
  ['10.0.0.0/8', '10.1.2.3'],
  ['100.64.0.0/10', '100.64.9.200'],
  ['127.0.0.0/8', '127.0.0.1'],
  ['169.254.0.0/16', '169.254.169.254'],
  ['172.16.0.0/12', '172.31.255.254'],
  ['192.0.0.0/24', '192.0.0.8'],
  ['192.0.2.0/24', '192.0.2.17'],
  ['192.88.99.0/24', '192.88.99.1'],
  ['192.168.0.0/16', '192.168.17.34'],
  ['198.18.0.0/15', '198.19.255.1'],
  ['198.51.100.0/24', '198.51.100.77'],
  ['203.0.113.0/24', '203.0.113.9'],
  ['224.0.0.0/4', '239.255.255.250'],
  ['240.0.0.0/4', '240.0.0.1'],
  ['255.255.255.255/32', '255.255.255.255'],
];
export const PRIVATE_IPV6: readonly (readonly [network: string, address: string])[] = [
  ['::/128', '::'],
  ['::1/128', '::1'],
  ['64:ff9b:1::/48', '64:ff9b:1::808:808'],
  ['100::/64', '100::ab'],
  ['100:0:0:1::/64', '100:0:0:1::ab'],
  ['2001::/23', '2001:2::ab'],
  ['2001:10::/28', '2001:1f::ab'],
  ['2001:db8::/32', '2001:db8:a::ab'],
  ['3fff::/20', '3fff:fff::ab'],
  ['5f00::/16', '5f00::ab'],
  ['fc00::/7', 'fd12:3456::ab'],
  ['fe80::/10', 'fe80::ab'],
  ['fec0::/10', 'fec0::ab'],
  ['ff00::/8', 'ff0e::ab'],
];

const PUBLIC_IPV4 = '93.184.215.14';
const PUBLIC_IPV6 = '2606:4700::1111';

/** A URL, and the addresses to which its host name resolves. */
export interface Spelling {
  readonly how: string;
  readonly url: string;
  readonly addresses: readonly string[];
}

/** A host that must be parsed as an address: a name server would return a public one. */
const literal = (how: string, host: string): Spelling => ({
  ...{ how, url: `https://${host}/in`, addresses: [PUBLIC_IPV4] },
});
const named = (how: string, host: string, addresses: readonly string[]): Spelling => ({
  ...{ how, url: `https://${host}/in`, addresses },
});

/** Host names of each kind that resolve to the address. */
function names(address: string): Spelling[] {
  return [
    named('a name', 'hooks.example.com', [address]),
    named('a name with a public address first', 'hooks.example.com', [PUBLIC_IPV4, address]),
    named('a name with a public address last', 'hooks.example.com', [address, PUBLIC_IPV6]),
    named('a name in upper case with a trailing dot', 'HOOKS.Example.COM.', [address]),
  ];
}

/** 33 ways to write an IPv4 address. */
export function spellingsOfIpv4(address: string): Spelling[] {
  const octets = address.split('.').map(Number) as [number, number, number, number];
  const [a, b, c, d] = octets;
  const number = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (value: number, digits = 0) => value.toString(16).padStart(digits, '0');
  const octal = (value: number) => `0${value.toString(8)}`;
  const [high, low] = [hex(a * 256 + b, 4), hex(c * 256 + d, 4)];
  const inverted = [hex(0xffff - (a * 256 + b), 4), hex(0xffff - (c * 256 + d), 4)].join(':');
  const full = (text: string) => text.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)));
  const percent = (text: string) => text.replace(/\d/g, (digit) => `%3${digit}`);
  return [
    literal('dotted', address),
    literal('one decimal number', String(number)),
    literal('one hexadecimal number', `0x${hex(number, 8)}`),
    literal('one hexadecimal number in upper case', `0X${hex(number, 8).toUpperCase()}`),
    literal('one octal number', octal(number)),
    literal('hexadecimal parts', octets.map((octet) => `0x${hex(octet)}`).join('.')),
    literal('octal parts', octets.map(octal).join('.')),
    literal('octal parts with further zeros', octets.map((octet) => `000${octal(octet)}`).join('.')),
    literal('mixed parts', `0x${hex(a)}.${b}.${octal(c)}.0X${hex(d)}`),
    literal('three parts', `${a}.${b}.${c * 256 + d}`),
    literal('two parts', `${a}.${(b * 256 + c) * 256 + d}`),
    literal('two hexadecimal parts', `0x${hex(a)}.0x${hex((b * 256 + c) * 256 + d)}`),
    literal('a trailing dot', `${address}.`),
    literal('full-width digits', full(address)),
    literal('ideographic full stops', address.replaceAll('.', '\u3002')),
    literal('half-width ideographic full stops', address.replaceAll('.', '\uff61')),
    literal('percent-encoded digits', percent(address)),
    literal('percent-encoded dots', address.replaceAll('.', '%2E')),
    literal('a tab within', `${address.slice(0, 3)}\t${address.slice(3)}`),
    literal('mapped', `[::ffff:${address}]`),
    literal('mapped in hexadecimal', `[::ffff:${high}:${low}]`),
    literal('mapped, complete, in upper case', `[0:0:0:0:0:FFFF:${high}:${low}]`.toUpperCase()),
    literal('compatible', `[::${address}]`),
    literal('translated', `[::ffff:0:${address}]`),
    literal('NAT64', `[64:ff9b::${address}]`),
    literal('local NAT64', `[64:ff9b:1::${high}:${low}]`),
    literal('6to4', `[2002:${high}:${low}::1]`),
    literal('the server of Teredo', `[2001:0:${high}:${low}::f7f7:f7f7]`),
    literal('the client of Teredo', `[2001:0:808:808::${inverted}]`),
    ...names(address),
  ];
}

/** 33 ways to write an IPv6 address. */
export function spellingsOfIpv6(address: string): Spelling[] {
  const parts = ipaddr.IPv6.parse(address).parts;
  const padded = parts.map((part) => part.toString(16).padStart(4, '0')).join(':');
  const plain = parts.map((part) => part.toString(16)).join(':');
  const tail = parts.slice(6).flatMap((part) => [part >> 8, part & 0xff]);
  const dotted = `${parts
    .slice(0, 6)
    .map((part) => part.toString(16))
    .join(':')}:${tail.join('.')}`;
  const url = (how: string, text: string): Spelling => ({ how, url: text, addresses: [PUBLIC_IPV4] });
  return [
    literal('short', `[${address}]`),
    literal('in full', `[${plain}]`),
    literal('complete with leading zeros', `[${padded}]`),
    literal('upper case', `[${padded.toUpperCase()}]`),
    literal('mixed case', `[${padded.replace(/[a-f]/, (letter) => letter.toUpperCase())}]`),
    literal('its end as an IPv4 address', `[${dotted}]`),
    literal('a zone', `[${address}%eth0]`),
    literal('an encoded zone', `[${address}%25eth0]`),
    literal('a numbered zone', `[${address}%251]`),
    literal('a trailing dot', `[${address}].`),
    literal('no brackets', address),
    literal('encoded brackets', `%5B${address}%5D`),
    literal('encoded colons', `[${address.replaceAll(':', '%3A')}]`),
    literal('full-width colons', `[${address.replaceAll(':', '\uff1a')}]`),
    literal('a tab within', `[${plain.slice(0, 2)}\t${plain.slice(2)}]`),
    literal('a line break inside', `[${plain.slice(0, 2)}\n${plain.slice(2)}]`),
    literal('its port', `[${address}]:443`),
    literal('another port', `[${address}]:8443`),
    literal('a user', `a@[${address}]`),
    literal('a user and a password', `hooks.example.com:443@[${address}]`),
    url('backslashes', `https:\\\\[${address}]\\in`),
    url('one slash', `https:/[${address}]/in`),
    url('no slash', `https:[${address}]/in`),
    url('many slashes', `https://///[${address}]/in`),
    url('the scheme in upper case', `HTTPS://[${address}]/in`),
    url('spaces around it', `  https://[${address}]/in  `),
    url('a query alone', `https://[${address}]?in`),
    url('a fragment alone', `https://[${address}]#in`),
    named('a name between public addresses', 'hooks.example.com', [PUBLIC_IPV4, address, PUBLIC_IPV6]),
    ...names(address),
  ];
}
