import type { FairQueue } from '../../core/fairQueue.ts';
import { sleep } from '../../runtime/clock.ts';
import { TooMuchDataError } from '../../runtime/errors.ts';
import type { Market } from '../../schema/market.ts';
import { BEFORE_FIRST_SEQ } from '../../store/queries/tapeReader.ts';
import type { PaperMarket } from '../live/paperMarket.ts';
import { RecordBuffer } from '../live/recordBuffer.ts';
import { seriesOf } from '../live/strategyIndex.ts';
import type { Recording } from './recording.ts';
import { type RetryOptions, retryUntilDone } from './retryUntilDone.ts';
import type { TapePlayer } from './tapePlayer.ts';

/** Longest slice of replaying before quotes get the event loop again. */
const SLICE_MS = 4;

interface ReplayRecordingOptions extends RetryOptions {
  readonly recording: Pick<Recording, 'stretch'>;
  /** Series take turns at reading. */
  readonly fairQueue: FairQueue;
}

/** A market without a past, and the player that replays its past. */
export interface ReplayStart {
  readonly paper: PaperMarket;
  readonly player: TapePlayer;
  /** Adds the strategies that are active now; none of them has missed a row at that time. */
  readonly join: () => void;
}

interface ReplayTarget {
  /** Called at every try. */
  readonly start: () => Promise<ReplayStart>;
  /** Receives the buffer for records published during the read. */
  readonly onBuffer: (buffer: RecordBuffer) => void;
}

/**
 * Brings a market that has a past up to the live stream: replays its recording stretch by stretch, then the records
 * published while the last stretch was read. Retries with growing pauses until the store answers or trading ends.
 * @returns The market, as if it had been followed from its first row; `too_large` if a stretch does not fit in memory,
 * which a retry would not change; null if trading ended first.
 */
export async function replayRecording(
  market: Market,
  target: ReplayTarget,
  parts: ReplayRecordingOptions,
): Promise<PaperMarket | 'too_large' | null> {
  return await retryUntilDone(
    `catch up ${market.marketId}`,
    async () => {
      try {
        return await parts.fairQueue.run(seriesOf(market), () => attempt(market, target, parts));
      } catch (error) {
        if (error instanceof TooMuchDataError) return 'too_large' as const;
        throw error;
      }
    },
    parts,
  );
}

/** @returns Undefined if trading ended first. */
async function attempt(
  market: Market,
  { start, onBuffer }: ReplayTarget,
  parts: ReplayRecordingOptions,
): Promise<PaperMarket | undefined> {
  const { paper, player, join } = await start();
  for (let afterSeq = BEFORE_FIRST_SEQ; ; ) {
    const buffer = new RecordBuffer();
    onBuffer(buffer);
    const { tape, toSeq } = await parts.recording.stretch(market, { afterSeq }, parts.signal);
    // The buffer holds every record published since; the stretch may hold only some of them.
    const beforeSeq = buffer.firstSeq ?? Number.POSITIVE_INFINITY;
    join();
    if (!(await playInSlices(player.play(tape, beforeSeq), parts))) return undefined;
    const isLast = toSeq === null || toSeq >= beforeSeq - 1;
    if (isLast && !buffer.overflowed) {
      player.finish(beforeSeq);
      join();
      buffer.drain(paper);
      return paper;
    }
    afterSeq = isLast ? beforeSeq - 1 : toSeq;
  }
}

/** @returns False if trading ended first. */
async function playInSlices(
  steps: Generator<void, void>,
  { clock, signal }: Pick<ReplayRecordingOptions, 'clock' | 'signal'>,
): Promise<boolean> {
  let sliceEnds = clock.monotonic() + SLICE_MS;
  while (!steps.next().done) {
    if (clock.monotonic() < sliceEnds) continue;
    await sleep(clock, 0, signal);
    if (signal.aborted) return false;
    sliceEnds = clock.monotonic() + SLICE_MS;
  }
  return true;
}
