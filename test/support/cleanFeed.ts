import type { Gap } from '../../src/schema/gap.ts';
import { WatchedVenue, type WatchedVenueOptions } from './watchedVenue.ts';

interface CleanRun {
  readonly frames: number;
  readonly framesPerSecond: number;
  readonly books: number;
  readonly untrustedBooks: number;
  readonly gaps: readonly Gap[];
  /** Markets whose book differed from the venue's at the end of some minute. */
  readonly wrong: readonly string[];
}

/** Runs simulated minutes of a venue without faults, and compares the books at the end of each minute. */
export async function runClean({
  minutes,
  onMinute,
  ...options
}: WatchedVenueOptions & {
  minutes: number;
  onMinute?: (minute: number, venue: WatchedVenue) => void;
}): Promise<CleanRun> {
  const venue = new WatchedVenue({ density: 1, eventTypes: ['5m', '15m', '1h', '4h'], ...options });
  await venue.settle();
  const wrong = new Set<string>();
  const framesBefore = venue.frames;
  for (let minute = 1; minute <= minutes; minute++) {
    await venue.clock.advance(60_000);
    const nowMs = venue.clock.now();
    for (const market of venue.entered) {
      // An action may be in progress at this moment; a tenth of a second later it is complete.
      if (market.facts.window.endTimeMs <= nowMs || venue.isRight(market)) continue;
      let isRight = false;
      for (let i = 0; i < 20 && !isRight; i++) {
        await venue.clock.advance(5);
        isRight = venue.isRight(market);
      }
      if (!isRight) wrong.add(market.facts.slug);
    }
    venue.forgetEnded();
    onMinute?.(minute, venue);
  }
  const frames = venue.frames - framesBefore;
  const { books, trustedBooks, gaps } = venue.sink;
  await venue.stop();
  return {
    frames,
    framesPerSecond: frames / minutes / 60,
    books,
    untrustedBooks: books - trustedBooks,
    gaps: [...gaps.values()],
    wrong: [...wrong],
  };
}
