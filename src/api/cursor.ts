import { createHash } from 'node:crypto';
import { badRequest } from './refusal.ts';

/** A place in a list: a time and what breaks ties (an arrival number, or an id). */
export interface CursorPlace {
  readonly timeMs: number;
  readonly tie: string;
}

/** What a cursor is bound to: the operation and every parameter that selects or orders its rows. */
export type CursorScope = readonly (string | number | boolean | null)[];

const SHAPE = /^([0-9a-f]{12}):(-?\d{1,15}):([\w.-]{1,128})$/;
const CURSOR_MAX = 400;

export function encodeCursor(scope: CursorScope, place: CursorPlace): string {
  return Buffer.from(`${fingerprint(scope)}:${place.timeMs}:${place.tie}`).toString('base64url');
}

/** @throws {RequestRefusedError} 400 for a cursor that is broken or was made by another query. */
export function decodeCursor(scope: CursorScope, text: string | null, tie: RegExp): CursorPlace | null {
  if (text === null) return null;
  const match =
    text.length <= CURSOR_MAX ? SHAPE.exec(Buffer.from(text, 'base64url').toString('latin1')) : null;
  const [, bound, time, found] = match ?? [];
  if (bound !== fingerprint(scope) || found === undefined || !tie.test(found)) {
    throw badRequest('cursor is not valid for this query');
  }
  const place = { timeMs: Number(time), tie: found };
  // Node reads base64 leniently; only the very text we made is ours.
  if (encodeCursor(scope, place) !== text) throw badRequest('cursor is not valid for this query');
  return place;
}

/** Ties of lists in arrival order: below what UInt64 holds. */
export const SEQ_TIE = /^\d{1,19}$/;

function fingerprint(scope: CursorScope): string {
  return createHash('sha256').update(JSON.stringify(scope)).digest('hex').slice(0, 12);
}
