import type { RandomBytes } from '../../control/base62.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createToken, hashToken } from './tokens.ts';

/** A sign-in link expires this long after its creation. */
export const SIGN_IN_LINK_LIFE_MS = 15 * 60_000;

interface LinkSources {
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly randomBytes: RandomBytes;
}

interface IssuedLink {
  readonly userId: string;
  readonly expiresAtMs: number;
}

/**
 * Links that sign their visitor in once, without a password. The process prints one for the user at the terminal. They
 * are kept only in this process's memory, by their hash.
 */
export class SignInLinks {
  readonly #links = new Map<string, IssuedLink>();
  readonly #sources: LinkSources;

  constructor(sources: LinkSources) {
    this.#sources = sources;
  }

  /** URL of the page that signs its visitor in as this user. @param baseUrl URL of the service. */
  issue(baseUrl: string, userId: string): string {
    const { clock, randomBytes } = this.#sources;
    const token = createToken(randomBytes);
    const expiresAtMs = clock.monotonic() + SIGN_IN_LINK_LIFE_MS;
    this.#links.set(hashToken(token), { userId, expiresAtMs });
    return `${baseUrl}/sign-in?link=${token}`;
  }

  /** Consumes a link. @returns The user it signs in; null if the link was used, has expired or is unknown. */
  use(token: string): string | null {
    const key = hashToken(token);
    const link = this.#links.get(key);
    this.#links.delete(key);
    return link === undefined || this.#sources.clock.monotonic() >= link.expiresAtMs ? null : link.userId;
  }
}
