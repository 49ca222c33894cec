import { describe, expect, it } from 'vitest';
import { PUBLIC_HOSTS, REFUSED_HOSTS } from '../../../test/support/addressVectors.ts';
import { ConfigError, TargetRefusedError } from '../../runtime/errors.ts';
import { AddressPolicy, isAddress } from './addresses.ts';
import { hostOf, parseTarget, TargetGuard } from './target.ts';

const policy = new AddressPolicy([]);
/** Like the connector, after a URL parser read the spelling. */
const refusalOf = async (host: string) => {
  const guard = new TargetGuard(policy, async () => ['93.184.215.14']);
  return await guard.addresses(hostOf(parseTarget(`https://${host}/`))).then(
    () => null,
    (error: Error) => error.message,
  );
};

describe('addresses', () => {
  it('the table is large enough', () => {
    expect(new Set(REFUSED_HOSTS).size).toBe(REFUSED_HOSTS.length);
    expect(REFUSED_HOSTS.length).toBeGreaterThanOrEqual(150);
  });

  it.each(REFUSED_HOSTS)('%s is refused', async (host) => {
    expect(await refusalOf(host)).toMatch(
      /^the (address|host) \S+ (is|leads to an address that is) (?!no address)\w/,
    );
  });

  it.each(PUBLIC_HOSTS)('%s is public', async (host) => {
    expect(await refusalOf(host)).toBeNull();
  });

  it.each([
    '',
    'localhost',
    '127.1',
    '0x7f000001',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    'fe80::1%eth0x',
    '::g',
  ])('%j is not an address', (text) => {
    expect(policy.refusal(text)).not.toBeNull();
  });

  it.each([
    ['0.1.2.3', 'this network'],
    ['172.31.0.1', 'private'],
    ['192.168.255.1', 'private'],
    ['100.127.0.1', 'shared by carriers'],
    ['168.63.129.16', 'a metadata service'],
    ['198.19.0.1', 'for benchmarks'],
    ['203.0.113.1', 'for documentation'],
    ['255.0.0.1', 'reserved'],
    ['239.0.0.1', 'multicast'],
    ['::1', 'loopback'],
    ['::', 'unspecified'],
    ['febf::1', 'link-local'],
    ['fec0::1', 'site-local'],
    ['fdff::1', 'private'],
    ['64:ff9b:1::1', 'private'],
    ['ff02::1', 'multicast'],
    ['2001:db8::1', 'for documentation'],
    ['3fff::1', 'for documentation'],
    ['2001:2::1', 'reserved'],
    ['4000::1', 'not public'],
    ['2002:a00:1::', 'private'],
    ['2001:0:a00:1::', 'private'],
    ['2001:0:808:808:0:0:f5ff:fffe', 'private'],
    ['2600::5efe:a00:1', 'private'],
    ['2600::200:5efe:a00:1', 'private'],
    ['172.32.0.1', null],
    ['198.20.0.1', null],
    ['2600::a00:1', null],
  ])('%s is refused as %s', (text, reason) => {
    expect(policy.refusal(text)).toBe(reason);
  });

  it('a zone changes nothing', () => {
    expect(isAddress('fe80::1%eth0')).toBe(true);
    expect(policy.refusal('fe80::1%eth0')).toBe('link-local');
  });
});

describe('networks that the operator allows', () => {
  const allowing = new AddressPolicy(['127.0.0.0/8', ' 10.1.2.0/24', 'fd00:1::/32']);

  it.each([
    [['127.0.0.0/8'], ['127.0.0.1']],
    [['::1/128'], ['::1']],
    [
      ['127.0.0.0/8', '::/0'],
      ['127.0.0.1', '::1'],
    ],
  ])('with %j allowed, localhost means %j', async (networks, addresses) => {
    const guard = new TargetGuard(new AddressPolicy(networks), async () => []);
    expect(await guard.addresses('localhost')).toEqual(addresses);
    await expect(
      guard.checkRegistration(parseTarget('https://localhost/'), 'usr_1'),
    ).resolves.toBeUndefined();
  });

  it('if another network is allowed, localhost is refused', async () => {
    const guard = new TargetGuard(new AddressPolicy(['10.0.0.0/8']), async () => []);
    await expect(guard.addresses('localhost')).rejects.toThrow(
      new TargetRefusedError('the host localhost leads to an address that is loopback'),
    );
  });

  it.each([
    ['127.0.0.1', true],
    ['127.255.255.255', true],
    ['::ffff:127.0.0.1', true],
    ['64:ff9b::7f00:1', true],
    ['::1', false],
    ['10.1.2.255', true],
    ['10.1.3.0', false],
    ['fd00:1::5', true],
    ['fd00:2::5', false],
    ['169.254.169.254', false],
  ])('%s: %s', (address, allowed) => {
    expect(allowing.refusal(address) === null).toBe(allowed);
  });

  it('contain addresses, and no name', () => {
    const named = new AddressPolicy(['10.1.0.0/16']);
    expect(['10.1.2.3', '10.2.2.3', 'example.com', ''].map((text) => named.isNamed(text))).toEqual([
      ...[true, false, false, false],
    ]);
  });

  it.each(['10.0.0.0', '10.0.0.0/33', 'nonsense', '/8'])('%j is not a network', (text) => {
    const message = `UNDERROUND_WEBHOOK_ALLOWED_NETWORKS="${text}" must be networks in CIDR notation, separated by commas, such as 10.1.2.0/24; correct it, or unset it`;
    expect(() => new AddressPolicy([text])).toThrow(new ConfigError(message));
  });
});
