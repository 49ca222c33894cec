import type { RecordStream } from '../../bus/recordStream.ts';
import { type Clock, sleep } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/log.ts';
import { UNKNOWN } from '../../schema/market.ts';
import {
  type ResumedStore,
  resumedLastBooks,
  resumedMarkets,
  resumedOpenGaps,
} from '../../store/journal/resumeRows.ts';
import { loadLastQuotes } from '../../store/queries/resume.ts';
import { isFollowed, OUTCOME_AWAITED_MS } from '../liveRecording.ts';
import type { PartitionMerge } from '../merge/earlierRecording.ts';
import { addRecentBooks } from '../resume.ts';
import { type Checkpoint, lastStored } from '../write/checkpoint.ts';
import type { RecordFollower } from './recordFollower.ts';

/** A start does not wait longer for the end of the backlog: readiness reports how late the records are. */
const BACKLOG_WAIT_MAX_MS = 30_000;
const BACKLOG_CHECK_MS = 20;

/** How far a partition is stored, and its fold at that place. */
interface FollowedCheckpoint extends Pick<Checkpoint, 'streamSeq' | 'timeMs'> {
  readonly fold: Pick<PartitionMerge, 'step'>;
}

/**
 * Loads what the store has, then follows the stream from there. Resolves when the messages are read that were in the
 * stream at the start, so that listeners start with the present.
 * @throws {StoreUnavailableError} When the store cannot be read.
 */
export async function resumeFollower(options: {
  follower: RecordFollower;
  stream: Pick<RecordStream, 'baseSeq' | 'partitions' | 'follow' | 'lastSeq'>;
  store: ResumedStore;
  /** Reads the checkpoint of a partition; one without a checkpoint starts with an empty fold at 0. */
  checkpoint: (partition: number) => Promise<FollowedCheckpoint>;
  clock: Clock;
  log: Logger;
}): Promise<{ stop(): Promise<void> }> {
  const { follower, stream, store, checkpoint, clock, log } = options;
  // First the checkpoints: the store then has at least the rows up to them.
  const partitions = Array.from({ length: stream.partitions }, (_, partition) => partition);
  const checkpoints = await Promise.all(partitions.map(checkpoint));
  checkpoints.forEach(({ fold, streamSeq }, partition) => {
    follower.addPartition(partition, { fold, streamSeq });
  });
  const markets = await loadStored(follower, store, { nowMs: clock.now(), baseSeq: stream.baseSeq });
  const oldest = checkpoints.reduce((least, one) => (one.streamSeq < least.streamSeq ? one : least));
  const fromSeq = oldest.streamSeq + 1;
  const lastSeq = await stream.lastSeq();
  let readSeq = fromSeq - 1;
  const following = await stream.follow({ fromSeq, after: lastStored(oldest) }, (message, place) => {
    follower.onMessage(message, place);
    readSeq = place.streamSeq;
  });
  const startMs = clock.monotonic();
  while (readSeq < lastSeq && clock.monotonic() - startMs < BACKLOG_WAIT_MAX_MS)
    await sleep(clock, BACKLOG_CHECK_MS);
  follower.caughtUp();
  log.info({ markets, fromSeq, readSeq, lastSeq }, 'follower.resumed');
  return following;
}

/**
 * Prices are not loaded: listeners read those of the past from the store themselves.
 * @returns The number of markets.
 */
async function loadStored(
  follower: RecordFollower,
  store: ResumedStore,
  { nowMs, baseSeq }: { nowMs: number; baseSeq: number },
): Promise<number> {
  const stored = await resumedMarkets(store, { endAfterMs: nowMs - OUTCOME_AWAITED_MS });
  // Markets of imports without a listing are not followed.
  const markets = stored.filter((market) => market.slug !== UNKNOWN && isFollowed(market, nowMs));
  const marketIds = markets.map(({ marketId }) => marketId);
  // Quotes are read after books: the trust in force then is never older than the levels.
  const books = new Map((await resumedLastBooks(store, marketIds)).map((book) => [book.marketId, book]));
  const quotes = new Map((await loadLastQuotes(store, marketIds)).map((quote) => [quote.marketId, quote]));
  for (const market of markets) {
    const book = books.get(market.marketId);
    const quote = quotes.get(market.marketId) ?? null;
    follower.resume(market, book === undefined ? null : { book, quote });
  }
  // A gap from before the stream ends with the market's first row in it.
  for (const gap of await resumedOpenGaps(store)) if ((gap.knownSeq ?? 0) >= baseSeq) follower.resumeGap(gap);
  await addRecentBooks(store, follower.recent, nowMs);
  return markets.length;
}
