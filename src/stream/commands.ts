import { isNestedTooDeeply, NESTED_TOO_DEEPLY } from '../schema/api/nesting.ts';
import { EVENT_TYPES, type Ticker } from '../schema/market.ts';
import { normalMarketId } from '../schema/protocol.ts';
import { parsePlace, type StreamPlace } from './cursor.ts';
import type { Selection } from './streamSubscriptions.ts';

/** Most names in one list of a command. */
const NAMES_MAX = 500;
/** Most characters of an unknown name that the error repeats. */
const NAME_SHOWN_MAX = 80;

/** A client's command. */
type Command =
  | { readonly kind: 'subscribe'; readonly selection: Selection; readonly resume: StreamPlace | null }
  | { readonly kind: 'unsubscribe'; readonly selection: Selection }
  | { readonly kind: 'pong' };

/** An invalid command; `message` is sent to the client. */
export class CommandError extends Error {}

/** @param followed The assets that a command may name. @throws {CommandError} */
export function parseCommand(text: string, followed: readonly Ticker[]): Command {
  const message = parseObject(text);
  const { type } = message;
  if (type === 'pong') return { kind: 'pong' };
  if (typeof type !== 'string') throw new CommandError('type must be subscribe, unsubscribe or pong');
  if (type !== 'subscribe' && type !== 'unsubscribe') throw new CommandError(`unknown type ${shown(type)}`);
  const tickers = names(message, 'tickers', { what: 'ticker', known: followed });
  const eventTypes = names(message, 'event_types', { what: 'event_type', known: EVENT_TYPES });
  const marketIds = marketIdsOf(message);
  if (tickers === null && eventTypes === null && marketIds.length === 0) {
    throw new CommandError(`${type} needs tickers, event_types or market_ids`);
  }
  // A list that is not named means all of its names if the other is.
  const selection = {
    tickers: tickers ?? (eventTypes === null ? [] : followed),
    eventTypes: eventTypes ?? (tickers === null ? [] : EVENT_TYPES),
    marketIds,
  };
  if (type === 'unsubscribe') return { kind: 'unsubscribe', selection };
  return { kind: 'subscribe', selection, resume: resumeOf(message) };
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  if (isNestedTooDeeply(text)) throw new CommandError(NESTED_TOO_DEEPLY);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw new CommandError('not valid JSON', { cause });
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new CommandError('a command is a JSON object');
  }
  return parsed as Record<string, unknown>;
}

/** Absent, null and an empty list are equivalent. */
function names(
  message: Readonly<Record<string, unknown>>,
  field: string,
  { what, known }: { what: string; known: readonly string[] | null },
): string[] | null {
  const value = message[field] ?? null;
  if (value === null) return null;
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string')) {
    throw new CommandError(`${field} must be a list of strings`);
  }
  if (value.length > NAMES_MAX) throw new CommandError(`${field} has more than ${NAMES_MAX} names`);
  const unknown = known && value.find((name) => !known.includes(name));
  if (typeof unknown === 'string') throw new CommandError(`unknown ${what} ${shown(unknown)}`);
  return value.length === 0 ? null : [...new Set<string>(value)];
}

function marketIdsOf(message: Readonly<Record<string, unknown>>): string[] {
  const named = names(message, 'market_ids', { what: 'market_id', known: null }) ?? [];
  return [...new Set(named.map(normalMarketId))];
}

function resumeOf({ resume = null }: Readonly<Record<string, unknown>>): StreamPlace | null {
  if (resume === null) return null;
  const place = typeof resume === 'string' ? parsePlace(resume) : null;
  if (place === null) throw new CommandError('resume is not a cursor of this stream');
  return place;
}

function shown(name: string): string {
  return name.length > NAME_SHOWN_MAX ? `${name.slice(0, NAME_SHOWN_MAX)}...` : name;
}

/** The message for a refused command. */
export function errorText(detail: string): string {
  return JSON.stringify({ type: 'error', detail });
}
