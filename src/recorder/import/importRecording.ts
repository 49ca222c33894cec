import type { Logger } from '../../runtime/log.ts';
import { identifyFrame } from '../../venues/identify.ts';
import { marketOfLostFrame } from '../lostFrame.ts';
import { LINE_CHARS_MAX } from './archives/textLines.ts';
import type { FrameRouter, RoutedFeed } from './frameRouter.ts';
import { readRecording } from './recordedFiles.ts';

/**
 * Plays a recording into the recorder. A line that is too long counts as an unreadable frame: it is logged with file and
 * line, and its market gets a gap.
 * @param fallbackTimeMs Receive time of the frames before the first one with any time.
 * @returns Number of frames read.
 */
export async function importRecording(
  file: string,
  {
    router,
    log,
    fallbackTimeMs,
    onProgress,
  }: { router: FrameRouter; log: Logger; fallbackTimeMs: number; onProgress?: () => Promise<void> },
): Promise<number> {
  let frames = 0;
  let lastTimeMs = fallbackTimeMs;
  const onCut = (line: number) =>
    log.error({ file, line, charactersMax: LINE_CHARS_MAX }, 'import.line_too_long');
  for await (const { receivedTimeMs, frame } of readRecording(file, onCut)) {
    // Without a recorded receive time, the venue's own time replaces it.
    lastTimeMs = receivedTimeMs ?? venueTimeMs(frame) ?? lastTimeMs;
    router.route(feedOf(frame), frame, lastTimeMs);
    frames++;
    if (frames % PROGRESS_FRAMES === 0) await onProgress?.();
  }
  return frames;
}

/** Number of frames between two calls of `onProgress`. */
const PROGRESS_FRAMES = 20_000;
/** The field of the ids in Gamma's markets, for V1 and for V2. */
const TOKEN_IDS = /"(?:clobTokenIds|positionIds)"/;

function feedOf(frame: string): RoutedFeed {
  if (frame.includes('"conditionId"') && TOKEN_IDS.test(frame)) return 'polymarket.gamma';
  const origin = identifyFrame(frame);
  // An unreadable book frame is a loss of its market, as in a live feed.
  return origin === 'unknown' && marketOfLostFrame(frame) !== null ? 'polymarket.clob' : origin;
}

/** The time in a frame, in any venue's format. */
function venueTimeMs(frame: string): number | null {
  const found = /"(?:timestamp|ts|E|time)\\?":\s*\\?"?(\d{13})\b/.exec(frame);
  return found === null ? null : Number(found[1]);
}
