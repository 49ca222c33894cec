import type { GapCause } from '../../../src/schema/gap.ts';
import type { EventType } from '../../../src/schema/market.ts';
import type { MemoryLink } from '../memorySockets.ts';
import type { WatchedVenue } from '../watchedVenue.ts';

/** Markets in which the fault must (or must not) cause gaps. */
type Hit = readonly EventType[];
export const ALL: Hit = ['5m', '15m', '1h'];
export const BUSY: Hit = ['5m', '15m'];

export interface ScriptedFault {
  readonly name: string;
  readonly begin: (venue: WatchedVenue) => void;
  /** Ends the venue's fault; absent where the venue never had one. */
  readonly end?: (venue: WatchedVenue) => void;
  readonly lastsMs: number;
  /** Time limit for every book to be correct again; one second by default. */
  readonly rightWithinMs?: number;
  /** The gap required in the current market of each kind, and its time limit; absent: no gap is allowed anywhere. */
  readonly gap?: { readonly causes: readonly GapCause[]; readonly on: Hit; readonly withinMs: number };
  readonly startMs?: number;
}

export const SILENT: readonly GapCause[] = ['silent_feed', 'silent_market'];
export const BUSY_LIMIT_MS = 6_000;
export const ANY_LIMIT_MS = 10_000;

export const lanes = (venue: WatchedVenue) => venue.linksOf(venue.market('5m'));
export const lane = (venue: WatchedVenue, i: 0 | 1): MemoryLink => lanes(venue)[i] as MemoryLink;
export const everyLink = (venue: WatchedVenue, act: (link: MemoryLink) => void) =>
  venue.network.open.forEach(act);
export const isChange = (text: string) => text.includes('"price_change"');

/** Drops the next `count` frames that match `which` on every connection, as if the venue had never sent them. */
export function neverSent(venue: WatchedVenue, count: number, which: (text: string) => boolean): void {
  const dropped = new Set<string>();
  everyLink(venue, (link) => {
    link.tamper = (text) => {
      if (dropped.has(text)) return null;
      if (dropped.size >= count || !which(text)) return text;
      dropped.add(text);
      return null;
    };
  });
}

/** Rewrites the next `count` frames that match `which` on every connection. */
export function rewritten(
  venue: WatchedVenue,
  count: number,
  which: (text: string) => boolean,
  how: (text: string) => string,
): void {
  const hit = new Set<string>();
  everyLink(venue, (link) => {
    link.tamper = (text) => {
      if (!hit.has(text) && (hit.size >= count || !which(text))) return text;
      hit.add(text);
      return how(text);
    };
  });
}

export const of = (venue: WatchedVenue, eventType: EventType, next = 0) =>
  venue.market(eventType, next).facts.conditionId;

export function stepVenueClock(venue: WatchedVenue, offsetMs: number): void {
  venue.model.stampOffsetMs = offsetMs;
}
