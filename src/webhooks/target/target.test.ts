import { expect, it } from 'vitest';
import { InvalidInputError, TargetRefusedError, TooManyLookupsError } from '../../runtime/errors.ts';
import { AddressPolicy } from './addresses.ts';
import { parseTarget, type ResolveHost, TargetGuard } from './target.ts';

const PUBLIC = '93.184.215.14';
const PRIVATE = 'the host hooks.example.com leads to an address that is private';
const nowhere: ResolveHost = async () => {
  throw new Error('ENOTFOUND');
};
const at =
  (...addresses: string[]): ResolveHost =>
  async () =>
    addresses;

/** Null: it may be registered. */
async function refusal(
  host: string,
  {
    dns = nowhere,
    here = nowhere,
    allowed = [],
  }: { dns?: ResolveHost; here?: ResolveHost; allowed?: string[] },
): Promise<string | null> {
  const guard = new TargetGuard(new AddressPolicy(allowed), dns, here);
  return await guard.checkRegistration(parseTarget(`https://${host}/`), 'usr_1').then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof InvalidInputError)) throw error;
      return error.message.replace('the URL is not allowed: ', '');
    },
  );
}

it.each([
  [
    'a name of the hosts file',
    'vm',
    { here: at('127.0.0.1') },
    'the host vm leads to an address that is loopback on this machine',
  ],
  [
    'a name found by the search domains',
    'db',
    { here: at('10.0.0.7') },
    'the host db leads to an address that is private on this machine',
  ],
  [
    'a public name that is loopback on this machine',
    'hooks.example.com',
    { dns: at(PUBLIC), here: at(PUBLIC, '127.0.1.1') },
    'the host hooks.example.com leads to an address that is loopback on this machine',
  ],
  [
    'a name with a private address in DNS',
    'x.example',
    { dns: at('10.0.0.7'), here: at(PUBLIC) },
    'the host x.example leads to an address that is private',
  ],
  ['ip6-localhost', 'ip6-localhost', {}, 'the host ip6-localhost leads to an address that is loopback'],
  ['ip6-loopback', 'ip6-loopback', {}, 'the host ip6-loopback leads to an address that is loopback'],
  [
    'localhost.localdomain',
    'LOCALHOST.localdomain.',
    {},
    'the host localhost.localdomain leads to an address that is loopback',
  ],
  [
    'a metadata service',
    'metadata.google.internal',
    {},
    'the host metadata.google.internal is no public name',
  ],
  [
    'an internal name, even with a public address in DNS',
    'a.internal.',
    { dns: at(PUBLIC), here: at(PUBLIC) },
    'the host a.internal is no public name',
  ],
  ['a multicast DNS name', 'printer.local', {}, 'the host printer.local is no public name'],
  ['a home network name', 'nas.home.arpa', {}, 'the host nas.home.arpa is no public name'],
])('%s is refused at registration', async (_, host, known, expected) => {
  expect(await refusal(host, known)).toBe(expected);
});

it.each([
  ['a public name', 'hooks.example.com', { dns: at(PUBLIC), here: at(PUBLIC) }],
  ['a name without an address yet', 'soon.example.com', {}],
  ['a name that only resembles a local one', 'notlocal.example-internal.com', { dns: at(PUBLIC) }],
  ['a name of the hosts file, allowed', 'vm', { here: at('127.0.0.1'), allowed: ['127.0.0.0/8'] }],
  ['an internal name, allowed', 'a.internal', { dns: at('10.0.0.7'), allowed: ['10.0.0.0/8'] }],
  ['ip6-loopback, allowed', 'ip6-loopback', { allowed: ['::1/128'] }],
])('%s is accepted', async (_, host, known) => {
  expect(await refusal(host, known)).toBeNull();
});

it.each([
  ['last', [PUBLIC, '10.0.0.7']],
  ['first', ['10.0.0.7', PUBLIC]],
  ['between public ones, by IPv6', [PUBLIC, 'fd00::1', '2606:4700::1111']],
])('a name with a private address %s is never connected to, nor registered', async (_, addresses) => {
  const guard = new TargetGuard(new AddressPolicy([]), at(...addresses), nowhere);
  const error = await guard.addresses('hooks.example.com').catch((reason: unknown) => reason);
  expect(error).toEqual(new TargetRefusedError(PRIVATE));
  const known = { dns: at(...addresses), here: at(PUBLIC) };
  expect(await refusal('hooks.example.com', known)).toBe(PRIVATE);
});

it('an internal name that also has an address outside the allowed networks is refused', async () => {
  const known = { dns: at('10.0.0.7', PUBLIC), allowed: ['10.0.0.0/8'] };
  expect(await refusal('a.internal', known)).toBe('the host a.internal is no public name');
});

it('a registration beyond its user’s look-ups is refused as that, not as a URL that is not allowed', async () => {
  const tooMany = new TooManyLookupsError('4 host names of yours are being looked up', 5);
  const guard = new TargetGuard(new AddressPolicy([]), at(PUBLIC), async () => {
    throw tooMany;
  });
  const checked = guard.checkRegistration(parseTarget('https://hooks.example.com/'), 'usr_1');
  await expect(checked).rejects.toBe(tooMany);
});

it('names that never leave the machine cause no query', async () => {
  const asked: string[] = [];
  const resolve: ResolveHost = async (host) => {
    asked.push(host);
    return [PUBLIC];
  };
  for (const host of ['localhost', 'a.localhost', 'ip6-localhost', '10.0.0.1']) {
    expect(await refusal(host, { dns: resolve, here: resolve })).not.toBeNull();
  }
  expect(asked).toEqual([]);
});

it.each(['https://.', 'https://a..b', 'https://.example.com', 'https://example.com..', 'https://。/'])(
  '%s has an empty label',
  (url) => {
    expect(() => parseTarget(url)).toThrow(InvalidInputError);
  },
);

it.each([
  ['plain http', 'http://hooks.example.com/', 'the URL must start with https://'],
  ['another protocol', 'ftp://hooks.example.com/', 'the URL must start with https://'],
  ['no URL at all', 'hooks.example.com', 'not a valid URL'],
  ['2,049 characters', `https://x.example/${'a'.repeat(2_031)}`, 'a URL has at most 2048 characters'],
])('%s is refused', (_, url, message) => {
  expect(() => parseTarget(url)).toThrow(new InvalidInputError(message));
});

it('a URL of 2,048 characters is accepted, without its fragment', () => {
  const url = `https://x.example/${'a'.repeat(2_028)}`;
  expect(parseTarget(`${url}#b`).href).toBe(url);
});

it('a trailing dot is ignored', () => {
  expect(parseTarget('https://example.com./x').href).toBe('https://example.com./x');
});

it.each(['user@', 'user:password@', ':password@'])('a URL with %s is refused', (who) => {
  expect(() => parseTarget(`https://${who}hooks.example.com/`)).toThrow(
    new InvalidInputError('the URL must not hold a user or password'),
  );
});
