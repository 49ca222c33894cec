import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomBase62, toBase62 } from '../../control/base62.ts';
import { createKey, hashKey, KEY_LENGTH, keyChecksum, keyHint, parseKey } from './keyFormat.ts';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const environment = fc.constantFrom('live' as const, 'test' as const);

/** Endless bytes from a seed, so a failing case can be repeated. */
const seededBytes = (seed: number) => {
  let state = seed;
  return (size: number) =>
    Uint8Array.from({ length: size }, () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state >>> 24;
    });
};

describe('key checksum', () => {
  it('equals the published test vector of this key format', () => {
    expect(keyChecksum('zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ')).toBe('0mLq17');
  });

  it('keeps leading zeros', () => {
    expect(toBase62(0, 6)).toBe('000000');
    expect(toBase62(61, 6)).toBe('00000z');
    expect(toBase62(62, 6)).toBe('000010');
    expect(toBase62(2 ** 32 - 1, 6)).toBe('4gfFC3');
  });
});

describe('createKey and parseKey', () => {
  it('round trip: a key has 48 characters, the right prefix, and is accepted in its environment', () => {
    fc.assert(
      fc.property(environment, fc.integer(), (wanted, seed) => {
        const key = createKey(wanted, seededBytes(seed));
        expect(key).toHaveLength(KEY_LENGTH);
        expect(KEY_LENGTH).toBe(48);
        expect(key).toMatch(wanted === 'live' ? /^svc_live_[0-9A-Za-z]{39}$/ : /^svc_test_[0-9A-Za-z]{39}$/);
        expect(parseKey(key)).toEqual({ outcome: 'ok', environment: wanted });
      }),
    );
  });

  it('a change of any single character is refused', () => {
    const anyChange = fc.record({
      environment,
      seed: fc.integer(),
      position: fc.nat(KEY_LENGTH - 1),
      character: fc.constantFrom(...ALPHABET, '_', ' ', '-', '\u0000', 'é'),
    });
    fc.assert(
      fc.property(anyChange, ({ environment: wanted, seed, position, character }) => {
        const key = createKey(wanted, seededBytes(seed));
        fc.pre(key.charAt(position) !== character);
        const changed = key.slice(0, position) + character + key.slice(position + 1);
        expect(parseKey(changed).outcome).not.toBe('ok');
      }),
      { numRuns: 2000 },
    );
  });

  const good = createKey('live', seededBytes(1));
  const body = good.slice(9);
  it.each([
    ['empty text', '', 'malformed'],
    ['one character short', good.slice(0, -1), 'malformed'],
    ['one character more', `${good}0`, 'malformed'],
    ['a new line at the end', `${good.slice(0, -1)}\n`, 'malformed'],
    ['another prefix', `svc_prod_${body}`, 'malformed'],
    ['prefix in capitals', `SVC_LIVE_${body}`, 'malformed'],
    ['a letter outside ASCII whose lower case is ASCII', `svc_live_\u212A${body.slice(1)}`, 'malformed'],
    ['the other prefix with the first checksum', `svc_test_${body}`, 'bad_checksum'],
    ['two characters swapped', good.replace(/(.)(.)$/, '$2$1'), 'bad_checksum'],
    ['100 kB', 'a'.repeat(100_000), 'malformed'],
  ])('%s is refused', (_, text, outcome) => {
    expect(parseKey(text)).toEqual({ outcome });
  });

  it('two keys from real randomness differ', () => {
    expect(createKey('live', randomBytes)).not.toBe(createKey('live', randomBytes));
  });
});

describe('randomBase62', () => {
  it('skips bytes that would make some characters more likely', () => {
    const bytes = [248, 249, 255, 0, 61, 62, 247];
    const text = randomBase62(4, (size) =>
      Uint8Array.from({ length: size }, (_, at) => bytes[at % 7] as number),
    );
    expect([...text].filter((character) => !'0z'.includes(character))).toEqual([]);
  });

  it('produces all 62 characters equally often from uniform bytes', () => {
    const everyByte = Uint8Array.from({ length: 256 }, (_, index) => index);
    let next = 0;
    const text = randomBase62(248, (size) =>
      Uint8Array.from({ length: size }, () => everyByte[next++ % 256] as number),
    );
    const counts = [...ALPHABET].map((character) => text.split(character).length - 1);
    expect(counts).toEqual(Array.from({ length: 62 }, () => 4));
  });
});

describe('hashKey and keyHint', () => {
  it('is SHA-256 in hex', () => {
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  it('the hint is the prefix and 4 of the 39 characters', () => {
    expect(keyHint(good(5))).toBe(good(5).slice(0, 13));
    function good(seed: number) {
      return createKey('live', seededBytes(seed));
    }
  });
});
