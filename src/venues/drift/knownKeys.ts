import type { z } from 'zod';

/** The fields that this version knows of one kind of message, also in the objects inside it. */
interface KnownKeys {
  readonly keys: ReadonlySet<string>;
  /** Fields that hold an object, or a list of objects, whose own fields are checked. */
  readonly inside: ReadonlyMap<string, KnownKeys>;
}

/** The kinds of message of one feed, by the name that the venue gives them. */
export type MessageKinds = Readonly<Record<string, KnownKeys>>;

/** Objects of a list that are checked; the objects of one list have the same fields. */
const LIST_OBJECTS_MAX = 3;
const WORDS = /\S+/g;

/**
 * Describes one kind of message.
 * @param read The shape that reads it, or the names of its fields that are read.
 * @param notRead Names of fields that the venue is known to send and that are not read, separated by spaces.
 */
export function knownKeys(
  read: z.ZodObject | string,
  notRead = '',
  inside: Readonly<Record<string, KnownKeys>> = {},
): KnownKeys {
  const named = typeof read === 'string' ? (read.match(WORDS) ?? []) : Object.keys(read.shape);
  const keys = new Set([...named, ...(notRead.match(WORDS) ?? []), ...Object.keys(inside)]);
  return { keys, inside: new Map(Object.entries(inside)) };
}

/** Calls `onUnknown` for each field that is not known, with its path, such as `price_changes[].fee`. */
export function forUnknownKeys(
  known: KnownKeys,
  message: unknown,
  onUnknown: (path: string, value: unknown) => void,
  prefix = '',
): void {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return;
  for (const [key, value] of Object.entries(message)) {
    if (!known.keys.has(key)) {
      onUnknown(`${prefix}${key}`, value);
      continue;
    }
    const inside = known.inside.get(key);
    if (inside === undefined) continue;
    if (!Array.isArray(value)) forUnknownKeys(inside, value, onUnknown, `${prefix}${key}.`);
    else
      for (const item of value.slice(0, LIST_OBJECTS_MAX))
        forUnknownKeys(inside, item, onUnknown, `${prefix}${key}[].`);
  }
}

/** Whether a path that `forUnknownKeys` reported earlier is known now. */
export function isKnownPath(known: KnownKeys, path: string): boolean {
  const [, key = path, rest] = /^(.*?)(?:\[\])?\.(.+)$/.exec(path) ?? [];
  if (rest === undefined) return known.keys.has(path);
  const inside = known.inside.get(key);
  return inside !== undefined && isKnownPath(inside, rest);
}
