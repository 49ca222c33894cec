import type { RandomBytes } from '../../control/base62.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createToken, hashToken } from './tokens.ts';

/** A sign-in link is worthless so long after it was made. */
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
 * Links that sign their visitor in once, without a password: the process prints one for whoever reads its output. They
 * are held in this process's memory alone, by their hash.
 */
export class SignInLinks {
  readonly #links = new Map<string, IssuedLink>();
  readonly #sources: LinkSources;

  constructor(sources: LinkSources) {
    this.#sources = sources;
  }

  /** The page that signs its visitor in as this user. @param baseUrl Of the service. */
  issue(baseUrl: string, userId: string): string {
    const { clock, randomBytes } = this.#sources;
    const token = createToken(randomBytes);
    const expiresAtMs = clock.monotonic() + SIGN_IN_LINK_LIFE_MS;
    this.#links.set(hashToken(token), { userId, expiresAtMs });
    return `${baseUrl}/sign-in?link=${token}`;
  }

  /** Uses a link up. @returns Whom it signs in; null where it was used, is too old or never was one. */
  use(token: string): string | null {
    const key = hashToken(token);
    const link = this.#links.get(key);
    this.#links.delete(key);
    return link === undefined || this.#sources.clock.monotonic() >= link.expiresAtMs ? null : link.userId;
  }
}
