import { useApi } from '../api/hooks.ts';
import { useNow } from '../ui/useNow.ts';
import { clockAheadMs } from './clockDifference.ts';

/** How often the clocks are compared: either may be set while a page is open. */
const COMPARED_MS = 60_000;

/**
 * How far the service's clock is ahead of this machine's, ms. A page adds it to its own time before it compares that
 * with a time of the service.
 * @returns Null until the clocks are compared; 0 if the service does not say its time.
 */
export function useClockAhead(): number | null {
  const state = useApi('GET /app/state', {}, { refetchMs: COMPARED_MS });
  if (state.data !== undefined) return clockAheadMs(state.data.as_of, state.dataUpdatedAt);
  return state.isError ? 0 : null;
}

/** The current time by the service's clock, Unix ms, updated every second. */
export function useServiceNow(): number {
  return useNow() + (useClockAhead() ?? 0);
}

/** The time by the service's clock at this rendering, Unix ms. */
export function useServiceTime(): number {
  return Date.now() + (useClockAhead() ?? 0);
}
