import { EVENT_TYPES, type EventType } from '../../src/schema/market.ts';
import { windowAt } from '../../src/venues/polymarket/lifecycle/windows.ts';
import { eventually } from './runningService.ts';

/** Many times the duration that a test needs of a window. */
const LEFT_MS_MIN = 200_000;

/**
 * Kinds of market whose current windows last for several more minutes, the busiest first, so that a test in real time
 * does not reach an end. Waits while there are fewer: at noon in New York every window ends.
 */
export function kindsInPlay(count: number, kinds: readonly EventType[] = EVENT_TYPES): Promise<EventType[]> {
  return eventually('windows that go on for minutes', async () => {
    const nowMs = Date.now();
    const lasting = kinds.filter((kind) => windowAt(kind, nowMs).endTimeMs - nowMs >= LEFT_MS_MIN);
    return lasting.length >= count && lasting.slice(0, count);
  });
}
