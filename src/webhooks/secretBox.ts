import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RandomBytes } from '../accounts/base62.ts';
import type { Config } from '../config.ts';
import { ConfigError } from '../errors.ts';
import { makeFileOnce } from '../makeFileOnce.ts';

export const SECRET_KEY_FILE_NAME = 'secret.key';
const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const VERSION = 'v1.';

/**
 * Keeps what must be read again (signing secrets) out of the database: AES-256-GCM under a key that is not in it. A
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

  /** Null where the box was made under another key, for another row, or is damaged. */
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
 * The key of `UNDERROUND_SECRET_KEY`, else of a file in the data directory that is made at the first start, readable
 * by its owner alone. Two processes that start at once get the same one.
 * @throws {ConfigError} When the variable or the file holds no key.
 */
export function openSecretBox(
  { secretKey, dataDir }: Pick<Config, 'secretKey' | 'dataDir'>,
  randomBytes: RandomBytes,
): SecretBox {
  if (secretKey !== null) return new SecretBox(parseKey(secretKey, 'UNDERROUND_SECRET_KEY'), randomBytes);
  const path = join(dataDir, SECRET_KEY_FILE_NAME);
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    makeFileOnce(path, `${Buffer.from(randomBytes(KEY_BYTES)).toString('base64')}\n`);
  }
  return new SecretBox(parseKey(readFileSync(path, 'utf8'), path), randomBytes);
}

/** @throws {ConfigError} */
function parseKey(text: string, place: string): Buffer {
  const key = Buffer.from(text.trim(), /^[0-9a-fA-F]{64}$/.test(text.trim()) ? 'hex' : 'base64');
  // The text is not repeated: it may be half of a key.
  if (key.length !== KEY_BYTES) throw new ConfigError(`${place} must be 32 bytes in base64 or hexadecimal`);
  return key;
}
