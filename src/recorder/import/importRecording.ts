import { identifyFrame } from '../../venues/identify.ts';
import { marketOfLostFrame } from '../lostFrame.ts';
import type { FrameRouter, RoutedFeed } from './frameRouter.ts';
import { readRecording } from './recordedFiles.ts';

/**
 * Plays a recording into the recorder.
 * @param fallbackTimeMs Stands for the receipt of frames before the first that tells any time.
 * @returns Frames read.
 */
export async function importRecording(
  file: string,
  {
    router,
    fallbackTimeMs,
    onProgress,
  }: { router: FrameRouter; fallbackTimeMs: number; onProgress?: () => Promise<void> },
): Promise<number> {
  let frames = 0;
  let lastTimeMs = fallbackTimeMs;
  for await (const { receivedTimeMs, frame } of readRecording(file)) {
    // Where the recorder kept no receipt, the venue's own time stands in for it.
    lastTimeMs = receivedTimeMs ?? venueTimeMs(frame) ?? lastTimeMs;
    router.route(feedOf(frame), frame, lastTimeMs);
    frames++;
    if (frames % PROGRESS_FRAMES === 0) await onProgress?.();
  }
  return frames;
}

/** How many frames pass between two calls of `onProgress`. */
const PROGRESS_FRAMES = 20_000;

function feedOf(frame: string): RoutedFeed {
  if (frame.includes('"conditionId"') && frame.includes('"clobTokenIds"')) return 'polymarket.gamma';
  const origin = identifyFrame(frame);
  // A frame of a book that cannot be read is a loss of its market, as it is live.
  return origin === 'unknown' && marketOfLostFrame(frame) !== null ? 'polymarket.clob' : origin;
}

/** The time a frame carries, in whichever of the venues' spellings. */
function venueTimeMs(frame: string): number | null {
  const found = /"(?:timestamp|ts|E)\\?":\s*\\?"?(\d{13})\b/.exec(frame);
  return found === null ? null : Number(found[1]);
}
