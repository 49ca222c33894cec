import { beforeEach, expect, it, vi } from 'vitest';
import { FakeClock } from '../../../test/support/fakeClock.ts';
import { TooManyLookupsError } from '../../runtime/errors.ts';
import { AddressPolicy } from './addresses.ts';
import { LOOKUP_LIMIT_MS, MAX_LOOKUPS_PER_USER, SystemLookups } from './systemLookups.ts';
import { parseTarget, TargetGuard } from './target.ts';

/** Answers of names that the system's resolver has not answered yet, in the order of the look-ups. */
const hanging: { host: string; answer: () => void }[] = [];
const asked: string[] = [];
vi.mock('node:dns/promises', async (original) => {
  const real = await original<typeof import('node:dns/promises')>();
  const lookup = async (host: string) => {
    asked.push(host);
    if (!host.endsWith('.slow.example')) return await real.lookup(host, { all: true });
    return await new Promise((resolve) => {
      hanging.push({ host, answer: () => resolve([{ address: '10.0.0.7', family: 4 }]) });
    });
  };
  return { ...real, lookup };
});

beforeEach(() => {
  hanging.length = 0;
  asked.length = 0;
});

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('resolves the names of the hosts file, also after an unknown one', async () => {
  const { resolve } = new SystemLookups(new FakeClock());
  const names = ['a'.repeat(300), 'localhost'];
  const [unknown, known] = await Promise.allSettled(names.map((name) => resolve(name, 'usr_1')));
  expect(unknown?.status).toBe('rejected');
  expect(['127.0.0.1', '::1']).toContain(known?.status === 'fulfilled' && known.value[0]);
});

it('a user’s slow names delay no other user', async () => {
  const { resolve } = new SystemLookups(new FakeClock());
  for (let name = 0; name < MAX_LOOKUPS_PER_USER; name++) void resolve(`${name}.slow.example`, 'usr_1');
  expect(await resolve('localhost', 'usr_2')).not.toEqual([]);
  expect(asked).toEqual(['0.slow.example', 'localhost']);
});

it('a user has one look-up at a time and all users have two, also when their callers no longer wait', async () => {
  const clock = new FakeClock();
  const { resolve } = new SystemLookups(clock);
  const late = ['usr_1', 'usr_1', 'usr_2', 'usr_3'].map((user, at) => resolve(`${at}.slow.example`, user));
  await settled();
  expect(asked).toEqual(['0.slow.example', '2.slow.example']);
  await clock.advance(LOOKUP_LIMIT_MS);
  expect(await Promise.all(late)).toEqual([[], [], [], []]);
  const after = resolve('localhost', 'usr_4');
  await settled();
  expect(asked).toHaveLength(2);
  for (const { answer } of hanging) answer();
  expect(await after).not.toEqual([]);
  // Names whose callers no longer wait are not looked up.
  expect(asked).toEqual(['0.slow.example', '2.slow.example', 'localhost']);
  expect(clock.waiting).toBe(0);
});

it('a name is unknown here if its look-up takes too long, and then only its other addresses decide', async () => {
  const clock = new FakeClock();
  const here = new SystemLookups(clock).resolve;
  const guard = new TargetGuard(new AddressPolicy([]), async () => ['93.184.215.14'], here);
  const checked = guard.checkRegistration(parseTarget('https://a.slow.example/'), 'usr_1');
  await settled();
  await clock.advance(LOOKUP_LIMIT_MS);
  await expect(checked).resolves.toBeUndefined();
});

it('a look-up that ended makes room for one other, after those that waited', async () => {
  const clock = new FakeClock();
  const { resolve } = new SystemLookups(clock);
  for (let name = 0; name < MAX_LOOKUPS_PER_USER; name++) void resolve(`${name}.slow.example`, 'usr_1');
  await settled();
  hanging[0]?.answer();
  await settled();
  void resolve('last.slow.example', 'usr_1');
  const refused = resolve('localhost', 'usr_1').catch((error: unknown) => error);
  await settled();
  expect(asked).toEqual(['0.slow.example', '1.slow.example']);
  await clock.advance(LOOKUP_LIMIT_MS);
  expect(await refused).toBeInstanceOf(TooManyLookupsError);
});

it('a user with too many look-ups is refused until one has ended, also for late ones', async () => {
  const clock = new FakeClock();
  const { resolve } = new SystemLookups(clock);
  const refusal = new TooManyLookupsError('4 host names of yours are being looked up', 5);
  const waiting = [];
  for (let name = 0; name < MAX_LOOKUPS_PER_USER; name++) {
    waiting.push(resolve(`${name}.slow.example`, 'usr_1'));
  }
  await expect(resolve('localhost', 'usr_1')).rejects.toEqual(refusal);
  await clock.advance(LOOKUP_LIMIT_MS);
  await Promise.all(waiting);
  await expect(resolve('localhost', 'usr_1')).rejects.toEqual(refusal);
  hanging[0]?.answer();
  await settled();
  expect(await resolve('localhost', 'usr_1')).not.toEqual([]);
});
