import { createHash } from 'node:crypto';
import { API_VERSION } from '../schema/version.ts';
import type { RequestCheck } from './requestChecks.ts';

/** A range that ended this long ago gets no more rows from any feed, even late ones. */
export const SETTLED_AFTER_MS = 10 * 60_000;
/** An import may still add rows to the past, so a cached response is revalidated after this. */
const MAX_AGE_SECONDS = 3600;
const TAG = /(?:W\/)?"[^"]*"|\*/g;

/** The inputs that decide whether a response may be cached, and whether the client has cached it. */
export interface Conditions {
  readonly url: string;
  readonly ifNoneMatch: string | undefined;
  /** All rows received before this time are stored. */
  readonly storedToMs: number;
}

/** Caching headers of a response; `notModified`: the client already has it. */
interface Validity {
  readonly headers: Readonly<Record<string, string>>;
  readonly notModified: boolean;
}

/** Whether a range gets no more rows. @param settlesMs Its end; null if it has none, or if its start moves. */
export function isSettled(settlesMs: number | null, { storedToMs }: Pick<Conditions, 'storedToMs'>): boolean {
  return settlesMs !== null && settlesMs < storedToMs - SETTLED_AFTER_MS;
}

/**
 * Caching headers for a response about a range that can no longer change.
 * @param found The result's counts, first and last key, the next page, and the revision of its rows. Together with the
 * URL it identifies the response, so no row is read to validate a client's copy.
 * @param settlesMs As for `isSettled`.
 * @returns Null while the range may still change: it has no end, its end is relative to now, or it ended less than ten
 * minutes before the newest stored row.
 */
export function validityOf(
  found: readonly unknown[],
  { settlesMs, conditions }: { settlesMs: number | null; conditions: Conditions },
): Validity | null {
  const { url, ifNoneMatch } = conditions;
  if (!isSettled(settlesMs, conditions)) return null;
  const digest = createHash('sha256').update(JSON.stringify([API_VERSION, url, found]));
  // Weak, because the encodings of one response are equal in meaning and not in bytes.
  const etag = `W/"${digest.digest('base64url').slice(0, 22)}"`;
  return {
    headers: {
      etag,
      'cache-control': `private, max-age=${MAX_AGE_SECONDS}`,
      // Under `/app` the same handler identifies the user by a cookie.
      vary: 'Accept-Encoding, Authorization, Cookie',
    },
    notModified: matches(ifNoneMatch, etag),
  };
}

const PRIVATE = /^\/(?:v1|app)(?:[/?]|$)/;

/** Forbids caching under `/v1` and `/app` by default, because responses are private and may change. */
export const forbidKeeping: RequestCheck = (request, reply) => {
  // The route's own path is tested too, because the URL may contain escapes.
  if (PRIVATE.test(request.url) || PRIVATE.test(request.routeOptions.url ?? ''))
    reply.header('cache-control', 'no-store');
};

/** RFC 9110 13.1.2: weak comparison, by the text between the quotes. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.match(TAG) ?? [];
  return tags.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag.slice(2));
}
