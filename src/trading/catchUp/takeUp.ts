import type { Turns } from '../../core/turns.ts';
import { sleep } from '../../runtime/clock.ts';
import { TooMuchDataError } from '../../runtime/errors.ts';
import type { Market } from '../../schema/market.ts';
import { BEFORE_FIRST_SEQ } from '../../store/queries/tapeReader.ts';
import type { PaperMarket } from '../live/paperMarket.ts';
import { RecordBuffer } from '../live/recordBuffer.ts';
import { seriesOf } from '../live/strategyIndex.ts';
import { type PersistParts, persist } from './persist.ts';
import type { Recording } from './recording.ts';
import type { TapePlayer } from './tapePlayer.ts';

/** Time a slice of playing may take before quotes are looked at again. */
const SLICE_MS = 4;

export interface TakeUpParts extends PersistParts {
  readonly recording: Pick<Recording, 'stretch'>;
  /** Series take turns at being read. */
  readonly turns: Turns;
}

/** A market without a past, and who plays its past to it. */
export interface Beginning {
  readonly paper: PaperMarket;
  readonly player: TapePlayer;
  /** Puts the strategies that are there now on it; none of them has missed a row then. */
  readonly join: () => void;
}

interface Asked {
  /** Asked for at every try. */
  readonly begin: () => Promise<Beginning>;
  /** Told where what comes meanwhile is to be put. */
  readonly buffering: (buffer: RecordBuffer) => void;
}

/**
 * Brings a market that has a past to the present: plays what was recorded of it stretch by stretch, then what came while
 * the last of them was read. Tries again, ever less often, until the store answers or trading ends.
 * @returns The market, as if it had been followed from its first row; `too_large` where a stretch does not fit in memory,
 * which no other try would change; null where trading ended first.
 */
export async function takeUp(
  market: Market,
  asked: Asked,
  parts: TakeUpParts,
): Promise<PaperMarket | 'too_large' | null> {
  return await persist(
    `take up ${market.marketId}`,
    async () => {
      try {
        return await parts.turns.run(seriesOf(market), () => attempt(market, asked, parts));
      } catch (error) {
        if (error instanceof TooMuchDataError) return 'too_large' as const;
        throw error;
      }
    },
    parts,
  );
}

/** @returns Undefined where trading ended first. */
async function attempt(
  market: Market,
  { begin, buffering }: Asked,
  parts: TakeUpParts,
): Promise<PaperMarket | undefined> {
  const { paper, player, join } = await begin();
  for (let afterSeq = BEFORE_FIRST_SEQ; ; ) {
    const buffer = new RecordBuffer();
    buffering(buffer);
    const { tape, toSeq } = await parts.recording.stretch(market, { afterSeq }, parts.signal);
    // What came meanwhile is in the buffer, whole; what was read of it may not be.
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

/** @returns False where trading ended first. */
async function playInSlices(
  steps: Generator<void, void>,
  { clock, signal }: Pick<TakeUpParts, 'clock' | 'signal'>,
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
