import { useEffect, useRef, useState } from 'react';
import type { Band } from '../../charts/band.ts';
import type { ChartGroup } from '../../charts/chartGroup.ts';

/** How many recorded seconds pass in one second. */
export const SPEEDS = [1, 5, 20, 60, 300] as const;
/** How often the page moves on: faster than an eye reads numbers. */
const FRAME_MS = 100;

/**
 * The time after a stretch of playback.
 * @returns Null once the end is passed.
 */
export function advanced(
  time: number,
  { elapsedMs, speed, end }: { elapsedMs: number; speed: number; end: number },
): number | null {
  const next = time + (elapsedMs / 1000) * speed;
  return next >= end ? null : next;
}

export interface Playback {
  readonly isPlaying: boolean;
  readonly speed: number;
  readonly setSpeed: (speed: number) => void;
  readonly toggle: () => void;
  readonly pause: () => void;
}

/**
 * Moves a group's chosen time through a recorded range.
 * @param onPause Called with the time at which it stops, Unix seconds.
 */
export function usePlayback(
  group: ChartGroup,
  { from, to }: Band,
  onPause: (time: number) => void,
): Playback {
  const [isPlaying, setPlaying] = useState(false);
  const [speed, setSpeed] = useState<number>(SPEEDS[1]);
  const paused = useRef(onPause);
  paused.current = onPause;
  useEffect(() => {
    if (!isPlaying) return;
    const now = group.moment.get();
    // At the end it begins again.
    if (now === null || now < from || now >= to) group.moment.set(from);
    let last = performance.now();
    const timer = setInterval(() => {
      const time = performance.now();
      const next = advanced(group.moment.get() ?? from, { elapsedMs: time - last, speed, end: to });
      last = time;
      group.moment.set(next ?? to);
      if (next === null) setPlaying(false);
    }, FRAME_MS);
    return () => {
      clearInterval(timer);
      paused.current(group.moment.get() ?? to);
    };
  }, [isPlaying, speed, group, from, to]);
  const pause = () => setPlaying(false);
  return { isPlaying, speed, setSpeed, pause, toggle: () => setPlaying((before) => !before) };
}
