import { sleep } from '../clock.ts';
import type { Market } from '../schema/market.ts';
import type { PaperMarket } from './paperMarket.ts';
import { type PersistParts, persist } from './persist.ts';
import { RecordBuffer } from './recordBuffer.ts';
import type { Recording } from './recording.ts';
import { type PlayedTo, playTape } from './tapePlayer.ts';

/** Time a slice of playing may take before quotes are looked at again. */
const SLICE_MS = 4;

export interface TakeUpParts extends PersistParts {
  readonly recording: Pick<Recording, 'tape'>;
}

/**
 * Brings a market that has a past to the present: plays what was recorded of it, then what came meanwhile. Tries again,
 * ever less often, until the store answers or trading ends.
 * @param begin A market without a past, its sessions on it; asked for at every try.
 * @param buffering Told where what comes meanwhile is to be put.
 * @returns The market, as if it had been followed from its first row; null where trading ended first.
 */
export async function takeUp(
  market: Market,
  { begin, buffering }: { begin: () => Promise<PaperMarket>; buffering: (buffer: RecordBuffer) => void },
  parts: TakeUpParts,
): Promise<PaperMarket | null> {
  return await persist(`take up ${market.marketId}`, attempt, parts);

  async function attempt(): Promise<PaperMarket | undefined> {
    const buffer = new RecordBuffer();
    buffering(buffer);
    const tape = await parts.recording.tape(market, parts.signal);
    const paper = await begin();
    const played = await playInSlices(playTape(paper, tape), parts);
    if (played === null || buffer.overflowed) return undefined;
    buffer.drain(paper, played);
    return paper;
  }
}

async function playInSlices(
  steps: Generator<void, PlayedTo>,
  { clock, signal }: Pick<TakeUpParts, 'clock' | 'signal'>,
): Promise<PlayedTo | null> {
  let sliceEnds = clock.monotonic() + SLICE_MS;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (clock.monotonic() < sliceEnds) continue;
    await sleep(clock, 0, signal);
    if (signal.aborted) return null;
    sliceEnds = clock.monotonic() + SLICE_MS;
  }
}
