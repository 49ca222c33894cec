/** Finds the book in force at a time: in memory if it is the newest book, otherwise in the store. */

import type { StoreLag } from '../http/lifecycle.ts';
import type { FollowedMarkets, NewestBook } from '../recorder/marketMemory.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Gap } from '../schema/gap.ts';
import { findBook } from '../store/queries/books.ts';
import type { StoreReader } from '../store/reader.ts';
import type { BookRow } from '../store/tables/bookRowReader.ts';
import { LiveBookRow } from '../stream/bookText.ts';

/**
 * The last book of a market that is not followed counts as untrusted if the store lags by more than this, because its
 * newest rows may still be waiting. An idle writer keeps a row for at most half of this time.
 */
export const LAG_TRUSTED_MS = 2_000;

export interface BookDependencies {
  readonly store: StoreReader;
  readonly live: Pick<StoreLag, 'storeLagMs'> & { readonly followed: FollowedMarkets };
  readonly clock: Clock;
}

interface Moment {
  readonly marketId: string;
  /** Null: now. */
  readonly atMs: number | null;
}

const liveRow = new LiveBookRow();

/**
 * Every book of the market up to this moment is stored: none can be waiting. Its time alone does not show that, because
 * a book arrives after its own time, and our clock may be wrong.
 */
function isStored(
  { live, clock }: Pick<BookDependencies, 'live' | 'clock'>,
  { marketId, atMs }: Moment,
): boolean {
  const lagMs = live.storeLagMs();
  if (atMs === null || atMs > clock.now() - lagMs) return false;
  return !live.followed.mayLackBooks(marketId, { atMs, lagMs });
}

/**
 * The newest book of a followed market, if it is the book in force. It is trusted if its state is proven and no gap
 * covers the state or the time.
 * @returns Null if `storedBook` must be used. The row is reused: read it before any other call.
 */
export function newestBook(parts: Pick<BookDependencies, 'live' | 'clock'>, moment: Moment): BookRow | null {
  if (isStored(parts, moment)) return null;
  const { marketId, atMs } = moment;
  const { followed } = parts.live;
  const newest = followed.book(marketId);
  if (newest === null || (atMs !== null && atMs < newest.eventTimeMs)) return null;
  const trusted = newest.trusted && !isInGap(newest, atMs, followed.gaps(marketId));
  return liveRow.of({ ...newest, trusted });
}

/**
 * The last stored book at or before a time. It is untrusted if a newer one may be waiting, if nothing was received of the
 * time, or if a gap covers it.
 * @returns Null before the first book.
 */
export async function storedBook(
  parts: BookDependencies,
  moment: Moment,
  signal: AbortSignal,
): Promise<BookRow | null> {
  const { marketId, atMs } = moment;
  const { live, store, clock } = parts;
  const { followed } = live;
  // For a followed market, memory has only the newest state. States between it and the last stored one may be waiting.
  const lagMsMax = followed.book(marketId) === null ? LAG_TRUSTED_MS : 0;
  const mayBeOld = !isStored(parts, moment) && live.storeLagMs() > lagMsMax;
  const isUnknown = followed.market(marketId) !== null && (atMs ?? clock.now()) > followed.knownToMs;
  const book = await findBook(store, { marketId, atMs }, signal);
  const isDoubted = mayBeOld || isUnknown || followed.gaps(marketId).some((gap) => coversTime(gap, atMs));
  if (book !== null && isDoubted) book.trusted = false;
  return book;
}

/** Applies the same rule as `TRUSTED_AT` applies to stored books. */
function isInGap(book: NewestBook, atMs: number | null, gaps: readonly Gap[]): boolean {
  return gaps.some((gap) => liesInside(book, gap) || coversTime(gap, atMs));
}

/** For rows with the same timestamp as an end of the gap, the receive time decides. */
function liesInside({ eventTimeMs, receivedTimeMs }: NewestBook, gap: Gap): boolean {
  const { startTimeMs, startReceivedMs } = gap;
  const endTimeMs = gap.endTimeMs ?? Number.POSITIVE_INFINITY;
  const endReceivedMs = gap.endReceivedMs ?? Number.POSITIVE_INFINITY;
  if (eventTimeMs > startTimeMs && eventTimeMs < endTimeMs) return true;
  if (eventTimeMs < startTimeMs || eventTimeMs > endTimeMs) return false;
  return receivedTimeMs > startReceivedMs && receivedTimeMs < endReceivedMs;
}

/** @param atMs Null: now, which only an open gap covers. */
function coversTime({ startTimeMs, endTimeMs }: Gap, atMs: number | null): boolean {
  if (atMs === null) return endTimeMs === null;
  return startTimeMs < atMs && (endTimeMs === null || atMs < endTimeMs);
}
