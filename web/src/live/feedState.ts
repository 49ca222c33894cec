import type { Health } from '../api/schema.ts';
import { duration, number } from '../ui/format.ts';
import type { LiveState } from './messages.ts';
import { FRESH_MS } from './trust.ts';

/** Some book changes several times a second while a venue is connected. */
const SILENCE_SHOWN_MS = 10_000;

/** The state of all that the Live page shows, in one badge and a line or two. */
interface FeedState {
  readonly tone: 'good' | 'waiting' | 'warning' | 'bad';
  readonly label: string;
  /** Announced by screen readers; null without a problem. */
  readonly problem: string | null;
  readonly detail: string | null;
}

/**
 * The service's own state is first: without books nothing is current, whatever the connection of this page is. A lost
 * stream is no fault of the service, and the page polls meanwhile.
 * @param answeredMs Time of the newest polled answer, Unix ms; 0 before the first.
 */
export function feedStateOf(
  {
    connection,
    reason,
    newestBookMs,
    unreadable,
  }: Pick<LiveState, 'connection' | 'reason' | 'newestBookMs' | 'unreadable'>,
  { health, answeredMs, nowMs }: { health: Health | undefined; answeredMs: number; nowMs: number },
): FeedState {
  const books =
    health === undefined ? null : `${number(health.snapshots_last_5min)} books in the last 5 minutes`;
  if (health !== undefined && !health.ok) {
    const problem = 'The service has received no book for five minutes.';
    return { tone: 'bad', label: 'no data', problem, detail: books };
  }
  if (connection === 'live') {
    const silentMs = newestBookMs === null ? 0 : nowMs - newestBookMs;
    if (silentMs > SILENCE_SHOWN_MS) {
      const problem = 'No book change has arrived for more than 10 s: the figures below are old.';
      return { tone: 'warning', label: 'silent', problem, detail: books };
    }
    if (unreadable === 0) return { tone: 'good', label: 'live', problem: null, detail: books };
    const markets = unreadable === 1 ? 'one market' : `${unreadable} markets`;
    const problem = `The newest book change of ${markets} cannot be read: these prices are polled every 5 s.`;
    return { tone: 'warning', label: 'incomplete', problem, detail: books };
  }
  if (connection === 'connecting') {
    return { tone: 'waiting', label: 'connecting', problem: null, detail: books };
  }
  const problem = `The stream is reconnecting${reason === null ? '' : `: ${reason}`}.`;
  const ageMs = Math.max(0, nowMs - answeredMs);
  if (answeredMs === 0 || ageMs > FRESH_MS) {
    const detail = answeredMs === 0 ? null : `The prices are ${ageText(ageMs)} old.`;
    return { tone: 'bad', label: 'not connected', problem, detail };
  }
  const detail = `Meanwhile prices are polled every 5 s; these are ${ageText(ageMs)} old.`;
  return { tone: 'warning', label: 'polled', problem, detail };
}

/** Whole seconds: a tenth would change with every update. */
function ageText(ageMs: number): string {
  return ageMs < 10_000 ? `${Math.round(ageMs / 1000)} s` : duration(ageMs / 1000);
}
