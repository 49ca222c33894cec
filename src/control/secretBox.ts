import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Config, variableProblem } from '../config.ts';
import { ConfigError } from '../runtime/errors.ts';
import { makeDurableDirectories } from '../runtime/makeDirectories.ts';
import { makeFileOnce } from '../runtime/makeFileOnce.ts';
import type { RandomBytes } from './base62.ts';

export const SECRET_KEY_FILE_NAME = 'secret.key';
const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1.';

/**
 * Encrypts secrets that must be readable again (signing secrets): AES-256-GCM with a key that is not in the database. A
 * box opens only for the row it was made for.
 */
export class SecretBox {
  readonly #key: KeyObject;
  readonly #randomBytes: RandomBytes;

  /** @param key 32 bytes. */
  constructor(key: Uint8Array, randomBytes: RandomBytes) {
    this.#key = createSecretKey(key);
    this.#randomBytes = randomBytes;
  }

  seal(text: string, rowId: string): string {
    const nonce = this.#randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, this.#key, nonce).setAAD(Buffer.from(rowId));
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return VERSION + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64');
  }

  /** Decrypts a box. @returns Null if the box is damaged or was sealed with another key or for another row. */
  open(box: string, rowId: string): string | null {
    if (!box.startsWith(VERSION)) return null;
    const bytes = Buffer.from(box.slice(VERSION.length), 'base64');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) return null;
    try {
      const decipher = createDecipheriv(ALGORITHM, this.#key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAAD(Buffer.from(rowId)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch {
      return null;
    }
  }
}

/**
 * Uses the key of `UNDERROUND_SECRET_KEY`, else of a file in the data directory. The file is created at the first
 * start, readable only by its owner. Two processes that start at once get the same key.
 * @throws {ConfigError} When the variable or the file contains no valid key.
 */
export function openSecretBox(
  { secretKey, dataDir }: Pick<Config, 'secretKey' | 'dataDir'>,
  randomBytes: RandomBytes,
): SecretBox {
  const key = secretKey === null ? storedSecretKey(dataDir) : parseSecretKey(secretKey);
  if (key !== null) return new SecretBox(key, randomBytes);
  const path = join(dataDir, SECRET_KEY_FILE_NAME);
  makeDurableDirectories(dataDir);
  makeFileOnce(path, `${Buffer.from(randomBytes(KEY_BYTES)).toString('base64')}\n`);
  return new SecretBox(readKeyFile(path), randomBytes);
}

/** A box with a temporary key, for readers that neither open nor seal. */
export function passingSecretBox(randomBytes: RandomBytes): SecretBox {
  return new SecretBox(randomBytes(KEY_BYTES), randomBytes);
}

/**
 * The key in `UNDERROUND_SECRET_KEY`.
 * @throws {ConfigError} When the text is not a valid key.
 */
export function parseSecretKey(text: string): Buffer {
  const key = decodeKey(text);
  if (key !== null) return key;
  const rule = 'must be 32 bytes in base64 or hexadecimal, such as `openssl rand -base64 32` prints';
  throw new ConfigError(variableProblem('UNDERROUND_SECRET_KEY', text, rule));
}

/**
 * The key in the file of a data directory; null where the file does not exist yet.
 * @throws {ConfigError} When the file contains no valid key.
 */
export function storedSecretKey(dataDir: string): Buffer | null {
  const path = join(dataDir, SECRET_KEY_FILE_NAME);
  return existsSync(path) ? readKeyFile(path) : null;
}

/** @throws {ConfigError} */
function readKeyFile(path: string): Buffer {
  const key = decodeKey(readFileSync(path, 'utf8'));
  if (key !== null) return key;
  throw new ConfigError(
    `${path} must hold 32 bytes in base64 or hexadecimal; restore it from a backup, or set UNDERROUND_SECRET_KEY`,
  );
}

/** Null for an invalid key. No message quotes the text: it may be half of a key. */
function decodeKey(text: string): Buffer | null {
  const key = Buffer.from(text.trim(), /^[0-9a-fA-F]{64}$/.test(text.trim()) ? 'hex' : 'base64');
  return key.length === KEY_BYTES ? key : null;
}
