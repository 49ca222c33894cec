import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryDirectory } from '../../test/support/temporaryDirectory.ts';
import { ConfigError } from '../runtime/errors.ts';
import { openSecretBox, SECRET_KEY_FILE_NAME, SecretBox, storedSecretKey } from './secretBox.ts';

test('a sealed text opens only with its key and for its row', () => {
  const box = new SecretBox(randomBytes(32), randomBytes);
  const sealed = box.seal('whsec_abc', 'wh_1');
  expect(box.open(sealed, 'wh_1')).toBe('whsec_abc');
  expect(box.seal('whsec_abc', 'wh_1')).not.toBe(sealed);
  expect(box.open(sealed, 'wh_2')).toBeNull();
  expect(new SecretBox(randomBytes(32), randomBytes).open(sealed, 'wh_1')).toBeNull();
  const bytes = Buffer.from(sealed.slice(3), 'base64');
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes);
    changed[i] = (changed[i] as number) ^ 1;
    expect(box.open(`v1.${changed.toString('base64')}`, 'wh_1')).toBeNull();
  }
  for (const text of ['', 'v1.', 'v1.AAAA', sealed.slice(3), sealed.slice(0, -20)]) {
    expect(box.open(text, 'wh_1')).toBeNull();
  }
});

test('the key of a data directory is read, and not made', () => {
  const dataDir = temporaryDirectory();
  expect(storedSecretKey(dataDir)).toBeNull();
  expect(readdirSync(dataDir)).toEqual([]);
  const key = randomBytes(32);
  writeFileSync(join(dataDir, SECRET_KEY_FILE_NAME), `${key.toString('base64')}\n`);
  expect(storedSecretKey(dataDir)).toEqual(key);
});

test('the key file is created once, readable only by its owner, and read again', () => {
  const dataDir = join(temporaryDirectory(), 'new');
  const sealed = openSecretBox({ secretKey: null, dataDir }, randomBytes).seal('x', 'wh_1');
  expect(readdirSync(dataDir)).toEqual([SECRET_KEY_FILE_NAME]);
  expect(statSync(join(dataDir, SECRET_KEY_FILE_NAME)).mode & 0o777).toBe(0o600);
  expect(openSecretBox({ secretKey: null, dataDir }, randomBytes).open(sealed, 'wh_1')).toBe('x');
  const text = readFileSync(join(dataDir, SECRET_KEY_FILE_NAME), 'utf8');
  const elsewhere = temporaryDirectory();
  expect(openSecretBox({ secretKey: text, dataDir: elsewhere }, randomBytes).open(sealed, 'wh_1')).toBe('x');
  const hex = Buffer.from(text, 'base64').toString('hex');
  expect(openSecretBox({ secretKey: hex, dataDir: elsewhere }, randomBytes).open(sealed, 'wh_1')).toBe('x');
  expect(readdirSync(elsewhere)).toEqual([]);
});

test.each([['short'], [''], ['0'.repeat(63)]])('an invalid key is refused without quoting it: %j', (text) => {
  const dataDir = temporaryDirectory();
  const open = () => openSecretBox({ secretKey: text, dataDir }, randomBytes);
  expect(open).toThrow(
    new ConfigError(
      'UNDERROUND_SECRET_KEY (value not shown) must be 32 bytes in base64 or hexadecimal, such as `openssl rand -base64 32` prints; correct it, or unset it',
    ),
  );
  writeFileSync(join(dataDir, SECRET_KEY_FILE_NAME), text);
  expect(() => openSecretBox({ secretKey: null, dataDir }, randomBytes)).toThrow(ConfigError);
});
