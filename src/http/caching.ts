import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { API_VERSION } from '../schema/version.ts';

/** A range that ended this long ago gets no more rows from any feed, however late they come. */
export const SETTLED_AFTER_MS = 10 * 60_000;
/** An import may still add rows to the past, so a kept answer is asked about again after this. */
const MAX_AGE_SECONDS = 3600;
const TAG = /(?:W\/)?"[^"]*"|\*/g;

/** What decides whether an answer may be kept, and whether the client has kept it. */
export interface Conditions {
  readonly url: string;
  readonly ifNoneMatch: string | undefined;
  /** Everything received before this time is stored. */
  readonly storedToMs: number;
}

/** Headers of an answer that may be kept; `notModified`: the client has it already. */
export interface Validity {
  readonly headers: Readonly<Record<string, string>>;
  readonly notModified: boolean;
}

/** Whether a range gets no more rows. @param settlesMs Its end; null where it has none, or its start moves. */
export function isSettled(settlesMs: number | null, { storedToMs }: Pick<Conditions, 'storedToMs'>): boolean {
  return settlesMs !== null && settlesMs < storedToMs - SETTLED_AFTER_MS;
}

/**
 * Whether an answer about a range can change no more.
 * @param found What was found there: counts, first and last key, what revised the rows since. With the request's own address it names the
 *   answer, so nothing needs to be read to know that a client's copy is good.
 * @param settlesMs As of `isSettled`.
 * @returns Null while the range may still change: it has no end, its end is relative to now, or it ended less than ten
 *   minutes before the newest stored row.
 */
export function validityOf(
  found: readonly unknown[],
  { settlesMs, conditions }: { settlesMs: number | null; conditions: Conditions },
): Validity | null {
  const { url, ifNoneMatch } = conditions;
  if (!isSettled(settlesMs, conditions)) return null;
  const digest = createHash('sha256').update(JSON.stringify([API_VERSION, url, found]));
  // Weak: one answer has several encodings, equal in meaning and not in bytes.
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

/** Everything under `/v1` and `/app` that does not say otherwise is not to be kept: it is private and may change. */
export function forbidKeeping(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    // The route's own path too: a path may be written with escapes.
    if (PRIVATE.test(request.url) || PRIVATE.test(request.routeOptions.url ?? ''))
      reply.header('cache-control', 'no-store');
    done();
  });
}

/** RFC 9110 13.1.2: compared weakly, by what stands between the quotes. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  const tags = ifNoneMatch?.match(TAG) ?? [];
  return tags.some((tag) => tag === '*' || tag.replace(/^W\//, '') === etag.slice(2));
}
