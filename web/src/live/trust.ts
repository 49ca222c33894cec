import type { LiveWindow } from '../api/schema.ts';
import type { LiveMarket } from './messages.ts';

/** An answer older than this says nothing of now. */
export const FRESH_MS = 15_000;

export type Trust = 'proven' | 'unproven' | 'waiting' | 'stale' | { readonly gap: string };

/** What is known of one window. */
export interface KnownWindow {
  /** As last answered over HTTP. */
  readonly window: LiveWindow;
  readonly answeredMs: number;
  /** The newest book of the stream; null: none came yet. */
  readonly pushed: LiveMarket | null;
  /** The stream is connected. */
  readonly isPushed: boolean;
}

/** What a card shows: the pushed book, or null where the best prices that were answered are newer. */
export function shownBook(
  { window, answeredMs, pushed, isPushed }: KnownWindow,
  nowMs: number,
): { book: LiveMarket | null; trust: Trust } {
  const book = isPushed || isNewer(pushed, window) ? pushed : null;
  // A socket may be dead and silent: only a service that still answers shows that it is not.
  if (nowMs - answeredMs > FRESH_MS) return { book, trust: 'stale' };
  if (isPushed && pushed !== null) {
    const gap = pushed.trusted ? pushed.gap : (pushed.gap ?? window.gap);
    return { book, trust: trustOf(gap, pushed.trusted) };
  }
  return { book, trust: window.book === null ? 'waiting' : trustOf(window.gap, window.book.trusted) };
}

function isNewer(pushed: LiveMarket | null, { book }: LiveWindow): boolean {
  return pushed !== null && (book === null || Date.parse(book.ts) <= pushed.timeMs);
}

function trustOf(gap: string | null, trusted: boolean): Trust {
  if (gap !== null) return { gap };
  return trusted ? 'proven' : 'unproven';
}
