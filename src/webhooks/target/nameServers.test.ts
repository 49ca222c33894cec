import { beforeEach, expect, it, vi } from 'vitest';
import { AddressPolicy } from './addresses.ts';
import { TargetGuard } from './target.ts';

/** The answers of the name servers; an error: there is none. */
const answers: { ipv4: readonly string[] | Error; ipv6: readonly string[] | Error } = { ipv4: [], ipv6: [] };
vi.mock('node:dns/promises', async (original) => {
  const answer = async (given: readonly string[] | Error) => {
    if (given instanceof Error) throw given;
    return given;
  };
  class Resolver {
    resolve4 = async () => await answer(answers.ipv4);
    resolve6 = async () => await answer(answers.ipv6);
  }
  return { ...(await original<typeof import('node:dns/promises')>()), Resolver };
});

const NONE = new Error('queryAaaa ENODATA');
const UNKNOWN = new Error('queryA ENOTFOUND');
const addresses = () => new TargetGuard(new AddressPolicy([])).addresses('hooks.example.com');

beforeEach(() => {
  answers.ipv4 = ['93.184.215.14'];
  answers.ipv6 = ['2606:4700::1111'];
});

it('a name has its addresses of both kinds', async () => {
  expect(await addresses()).toEqual(['93.184.215.14', '2606:4700::1111']);
});

it('a name with addresses of one kind is reached at these', async () => {
  answers.ipv6 = NONE;
  expect(await addresses()).toEqual(['93.184.215.14']);
  [answers.ipv4, answers.ipv6] = [NONE, ['2606:4700::1111']];
  expect(await addresses()).toEqual(['2606:4700::1111']);
});

it('a name without any has the reason of the first query, or none', async () => {
  [answers.ipv4, answers.ipv6] = [UNKNOWN, NONE];
  await expect(addresses()).rejects.toBe(UNKNOWN);
  [answers.ipv4, answers.ipv6] = [[], []];
  await expect(addresses()).rejects.toThrow('the host hooks.example.com has no address');
});

it('a private address of either kind is refused', async () => {
  answers.ipv6 = ['fd00::1'];
  await expect(addresses()).rejects.toThrow('the host hooks.example.com leads to an address that is private');
});
