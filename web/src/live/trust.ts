import type { LiveWindow } from '../api/schema.ts';
import type { LiveMarket } from './messages.ts';

/** An older answer is not current. */
export const FRESH_MS = 15_000;
/** A change is pushed within a second. An answer with one so much newer shows that the stream delivers nothing. */
export const UNPUSHED_MS_MAX = 5_000;

export type Trust = 'proven' | 'unproven' | 'waiting' | 'stale' | { readonly gap: string };

/** Known data of one window. */
export interface KnownWindow {
  /** From the last HTTP answer. */
  readonly window: LiveWindow;
  readonly answeredMs: number;
  /** The newest book of the stream; null before the first. */
  readonly pushed: LiveMarket | null;
  /** The stream is connected. */
  readonly isPushed: boolean;
}

/** Content of a card: the pushed book, or null where the best prices of the last answer are newer. */
export function shownBook(
  { window, answeredMs, pushed, isPushed: isConnected }: KnownWindow,
  nowMs: number,
): { book: LiveMarket | null; trust: Trust } {
  const isPushed = isConnected && !isBehind(pushed, window);
  const book = isPushed || isNewer(pushed, window) ? pushed : null;
  // A dead socket is silent too: only an answering service shows that the socket is alive.
  if (nowMs - answeredMs > FRESH_MS) return { book, trust: 'stale' };
  if (isPushed && pushed !== null) {
    const gap = pushed.trusted ? pushed.gap : (pushed.gap ?? window.gap);
    return { book, trust: trustOf(gap, pushed.trusted) };
  }
  return { book, trust: window.book === null ? 'waiting' : trustOf(window.gap, window.book.trusted) };
}

/** A connection whose network has vanished looks like a live one for a minute. */
function isBehind(pushed: LiveMarket | null, { book }: LiveWindow): boolean {
  return pushed !== null && book !== null && Date.parse(book.ts) - pushed.timeMs > UNPUSHED_MS_MAX;
}

function isNewer(pushed: LiveMarket | null, { book }: LiveWindow): boolean {
  return pushed !== null && (book === null || Date.parse(book.ts) <= pushed.timeMs);
}

function trustOf(gap: string | null, trusted: boolean): Trust {
  if (gap !== null) return { gap };
  return trusted ? 'proven' : 'unproven';
}
