import * as argon2 from '@node-rs/argon2';
import { expect, it } from 'vitest';
import { BusyError, InvalidInputError } from '../../runtime/errors.ts';
import { checkPassword, Passwords } from './passwords.ts';

it('hashes with argon2id, 19 MiB, two passes, one lane and a random salt', async () => {
  const passwords = new Passwords();
  const [one, two] = await Promise.all([passwords.hash('secret'), passwords.hash('secret')]);
  for (const hashed of [one, two]) {
    expect(hashed).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  }
  expect(one).not.toBe(two);
});

it('accepts the password in any Unicode composition, and no other', async () => {
  const passwords = new Passwords();
  const hashed = await passwords.hash('pa\u00dfwort \u00e9 \ufb01');
  expect(await passwords.verify(hashed, 'pa\u00dfwort e\u0301 fi')).toBe(true);
  expect(await passwords.verify(hashed, 'pa\u00dfwort e fi')).toBe(false);
  expect(await passwords.verify(hashed, '')).toBe(false);
});

it('an unknown user has no valid password, not even the one of the placeholder hash', async () => {
  const passwords = new Passwords();
  expect(await passwords.verify(null, '')).toBe(false);
  expect(await passwords.verify(null, 'secret')).toBe(false);
});

it('checking an unknown user costs one comparison, like a wrong password', async () => {
  const compared: string[] = [];
  const passwords = new Passwords({
    hash: argon2.hash,
    verify: (against, password) => {
      compared.push(String(against));
      return argon2.verify(against, password);
    },
  });
  const hashed = await passwords.hash('secret');
  expect(await passwords.verify(hashed, 'wrong')).toBe(false);
  expect(await passwords.verify(null, 'wrong')).toBe(false);
  expect(compared).toHaveLength(2);
  const cost = (phc: string | undefined) => phc?.split('$').slice(1, 4);
  expect(compared[1]).not.toBe(compared[0]);
  expect(cost(compared[1])).toEqual(cost(compared[0]));
  expect(cost(compared[1])).toEqual(['argon2id', 'v=19', 'm=19456,t=2,p=1']);
});

it('hashes two at a time, lets forty wait in order, and refuses the rest', async () => {
  const begun: string[] = [];
  const finish: (() => void)[] = [];
  const passwords = new Passwords({
    hash: (password) => {
      begun.push(String(password));
      return new Promise((resolve) => finish.push(() => resolve('hash')));
    },
    verify: argon2.verify,
  });
  const asked = Array.from({ length: 50 }, (_, index) => passwords.hash(`${index}`));
  const settled = Promise.allSettled(asked);
  for (const late of asked.slice(42)) await expect(late).rejects.toThrow(BusyError);
  expect(begun).toEqual(['0', '1']);
  for (let done = 0; done < 42; done++) {
    finish[done]?.();
    await asked[done];
    expect(begun).toHaveLength(Math.min(done + 3, 42));
  }
  expect(begun).toEqual(Array.from({ length: 42 }, (_, index) => `${index}`));
  expect((await settled).filter((result) => result.status === 'rejected')).toHaveLength(8);
  const after = passwords.hash('after');
  expect(begun.at(-1)).toBe('after');
  finish.at(-1)?.();
  expect(await after).toBe('hash');
});

it.each([
  ['1234567', false],
  ['a1b2 c3d', true],
  ['🔒🔒🔒🔒🔒🔒🔒', false],
  ['🔒🔒🔒🔒🔒🔒🔒🔒', true],
  ['x'.repeat(256), true],
  ['x'.repeat(257), false],
])('counts characters: %s', (password, allowed) => {
  if (allowed) expect(checkPassword(password, 'ann@example.com')).toBe(password);
  else {
    expect(() => checkPassword(password, 'ann@example.com')).toThrow(
      new InvalidInputError('a password has 8 to 256 characters'),
    );
  }
});

const COMMON = 'this is one of the commonest passwords; choose another';
const OWN = 'a password must not be your e-mail address or a part of it';

it.each([
  ['password', COMMON],
  ['PassWord', COMMON],
  ['12345678', COMMON],
  ['1q2w3e4r', COMMON],
  ['\uff50assword', COMMON],
  ['ann.lee.smith@example.com', OWN],
  ['ANN.lee.smith@Example.com', OWN],
  ['Ann.Lee.Smith', OWN],
])('a commonly guessed password is refused: %s', (password, reason) => {
  expect(() => checkPassword(password, 'ann.lee.smith@example.com')).toThrow(new InvalidInputError(reason));
});

it.each([
  'passwordpassword1x',
  'aaaaaaaaaaaab',
  'example.com',
  'ann.lee.smith1',
  '        ',
  '日本語のパスワード',
])('no kinds of characters are required: %s', (password) => {
  expect(checkPassword(password, 'ann.lee.smith@example.com')).toBe(password);
});
