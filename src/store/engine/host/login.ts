/** The password check of requests over TCP: credentials as a ClickHouse server accepts them over HTTP. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { HostError } from './hostError.ts';

/** The only user. */
const STORE_USER = 'underround';
/** ClickHouse's user of a request without credentials. */
const DEFAULT_USER = 'default';
const AUTHENTICATION_FAILED = 516;

interface Credentials {
  readonly user: string;
  readonly password: string;
}

export class Login {
  readonly #user = digest(STORE_USER);
  readonly #password: Buffer;
  readonly #onRefused: () => void;

  constructor(options: { password: string; onRefused: () => void }) {
    this.#password = digest(options.password);
    this.#onRefused = options.onRefused;
  }

  /** @throws {HostError} When the request does not contain the user and the password, with ClickHouse's code and text. */
  check(request: IncomingMessage): void {
    const { user, password } = credentialsOf(request);
    // Digests have one length, and both comparisons are always made: the duration reveals nothing.
    const isUser = timingSafeEqual(digest(user), this.#user);
    const isPassword = timingSafeEqual(digest(password), this.#password);
    if (isUser && isPassword) return;
    this.#onRefused();
    const reason = 'Authentication failed: password is incorrect, or there is no user with such name';
    throw new HostError(AUTHENTICATION_FAILED, 'AUTHENTICATION_FAILED', `${user}: ${reason}`);
  }
}

/** Basic credentials first, then ClickHouse's headers, then the parameters of the URL. */
function credentialsOf({ headers, url = '/' }: IncomingMessage): Credentials {
  const basic = /^Basic\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1];
  if (basic !== undefined) {
    const text = Buffer.from(basic, 'base64').toString('utf8');
    const colon = text.indexOf(':');
    return colon < 0
      ? { user: text, password: '' }
      : { user: text.slice(0, colon), password: text.slice(colon + 1) };
  }
  const { searchParams } = new URL(url, 'http://engine');
  const user = headers['x-clickhouse-user'] ?? searchParams.get('user') ?? DEFAULT_USER;
  const password = headers['x-clickhouse-key'] ?? searchParams.get('password') ?? '';
  return { user: String(user), password: String(password) };
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
