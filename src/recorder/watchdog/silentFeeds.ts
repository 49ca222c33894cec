import type { VenueFeedRegistry } from '../../runtime/venueFeedRegistry.ts';
import { PERP_FEEDS } from '../../venues/perpVenue.ts';

/** Feeds that always have data are silent after this long. */
const SILENT_AFTER_MS = 10_000;
/** Polled several times a second; other feeds of requests are used only when needed. */
const POLLED_FEEDS: ReadonlySet<string> = new Set(Object.values(PERP_FEEDS));

/**
 * One line a feed that has brought nothing for too long, on any of its connections.
 * @param nowMs Up to when all that was received is recorded.
 */
export function silentFeeds(feeds: VenueFeedRegistry, nowMs: number): string[] {
  const newest = new Map<string, number>();
  for (const { feed, kind, lastMessageMs, sinceMs } of feeds.rows()) {
    const lastMessageAtMs = lastMessageMs ?? sinceMs;
    if (lastMessageAtMs === null || (kind !== 'socket' && !POLLED_FEEDS.has(feed))) continue;
    newest.set(feed, Math.max(newest.get(feed) ?? 0, lastMessageAtMs));
  }
  return [...newest]
    .map(([feed, lastMessageAtMs]) => [feed, nowMs - lastMessageAtMs] as const)
    .filter(([, silentMs]) => silentMs >= SILENT_AFTER_MS)
    .map(([feed, silentMs]) => `silent_feed ${feed} ${(silentMs / 1000).toFixed(1)} s`);
}
